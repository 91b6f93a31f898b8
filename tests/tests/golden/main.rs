//! Golden packets of every format: a change of the wire format must be deliberate.
//!
//! The file below holds them, by name, in hexadecimal. Each one is read and written again, and must
//! stay the same; this build must encode its samples to the bytes of the file. A deliberate change
//! of the wire format raises `message::VERSION` (for the control streams their own versions),
//! renames the file after it, and rewrites it:
//!
//! `AMBIT_RENEW_GOLDEN=1 cargo test -p ambit-tests --test golden`
//!
//! Before the first release a removed variant may be dropped without a new version; its number
//! stays reserved.

mod bodies;
mod datagrams;
mod frames;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use ambit_proto::examples::formats;
use ambit_proto::message;

/// Examples of each format of the list.
const EXAMPLES: u64 = 4;

const HELP: &str = "the wire format has changed. If the change is deliberate, raise \
    message::VERSION; then `AMBIT_RENEW_GOLDEN=1 cargo test -p ambit-tests --test golden` writes \
    the new file. If it is not, other builds of this version cannot communicate with this one";

/// A family of packets: its samples, and its codec.
struct Family {
    /// The prefix of its packets' names.
    prefix: &'static str,
    samples: fn() -> Vec<(String, Vec<u8>)>,
    /// Reads a packet and writes it again.
    reencode: fn(&str, &[u8]) -> Vec<u8>,
}

const FAMILIES: [Family; 3] = [
    Family {
        prefix: "format",
        samples: format_samples,
        reencode: reencode_format,
    },
    Family {
        prefix: "body",
        samples: bodies::samples,
        reencode: bodies::reencode,
    },
    Family {
        prefix: "frame",
        samples: frames::samples,
        reencode: frames::reencode,
    },
];

#[test]
fn every_packet_is_reencoded_to_the_same_bytes() {
    for (name, bytes) in golden() {
        let (prefix, rest) = name.split_once('/').expect("family/name");
        if let Some(family) = FAMILIES.iter().find(|family| family.prefix == prefix) {
            assert_eq!(
                hex(&(family.reencode)(rest, &bytes)),
                hex(&bytes),
                "{name}: {HELP}"
            );
        }
    }
}

#[test]
fn this_build_writes_the_bytes_of_the_file() {
    let samples: BTreeMap<String, Vec<u8>> = samples().into_iter().collect();
    if std::env::var_os("AMBIT_RENEW_GOLDEN").is_some() {
        rewrite_file(&samples);
    }
    let golden = golden();
    for (name, bytes) in &samples {
        let stored = golden
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the file: {HELP}"));
        assert_eq!(hex(bytes), hex(stored), "{name}: {HELP}");
    }
    let obsolete: Vec<_> = golden
        .keys()
        .filter(|name| !samples.contains_key(*name))
        .collect();
    assert!(
        obsolete.is_empty(),
        "this build does not write {obsolete:?}: {HELP}"
    );
}

#[test]
fn datagrams_of_the_file_are_accepted() {
    let golden = golden();
    datagrams::check(|name| {
        golden
            .get(&format!("datagram/{name}"))
            .cloned()
            .expect("a datagram of the file")
    });
}

fn samples() -> Vec<(String, Vec<u8>)> {
    let families = FAMILIES.iter().flat_map(|family| {
        let named = |(name, bytes)| (format!("{}/{name}", family.prefix), bytes);
        (family.samples)()
            .into_iter()
            .map(named)
            .collect::<Vec<_>>()
    });
    let datagrams = datagrams::samples()
        .into_iter()
        .map(|(name, bytes)| (format!("datagram/{name}"), bytes));
    families.chain(datagrams).collect()
}

fn format_samples() -> Vec<(String, Vec<u8>)> {
    let examples = formats().into_iter().flat_map(|format| {
        (0..EXAMPLES).map(move |seed| {
            (
                format!("{}/{seed}", format.name),
                format.encode_example(seed),
            )
        })
    });
    examples.collect()
}

fn reencode_format(name: &str, bytes: &[u8]) -> Vec<u8> {
    let (name, _) = name.split_once('/').expect("format/seed");
    let format = formats().into_iter().find(|format| format.name == name);
    let format = format.unwrap_or_else(|| panic!("there is no format {name}: {HELP}"));
    format
        .reencode(bytes)
        .unwrap_or_else(|error| panic!("{name}: {error}: {HELP}"))
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/golden/v{}.txt", message::VERSION))
}

/// The packets of the file, by name.
fn golden() -> BTreeMap<String, Vec<u8>> {
    let path = path();
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}. {HELP}", path.display()));
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let named = lines.map(|line| {
        let (name, hex) = line.split_once(' ').expect("a name and bytes");
        (name.to_owned(), bytes(hex))
    });
    named.collect()
}

fn rewrite_file(samples: &BTreeMap<String, Vec<u8>>) {
    let version = message::VERSION;
    let mut text = format!(
        "# Packets of version {version} of the game's protocol, of every format, by name.\n\
         # Written by and compared with tests/tests/golden/main.rs. Do not edit this file:\n\
         # a change of the wire format needs a new version and a new file. To rewrite it:\n\
         # raise message::VERSION; AMBIT_RENEW_GOLDEN=1 cargo test -p ambit-tests --test golden\n\n"
    );
    for (name, bytes) in samples {
        writeln!(text, "{name} {}", hex(bytes)).expect("writing to a String cannot fail");
    }
    std::fs::write(path(), text).expect("the file can be written");
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("writing to a String cannot fail");
    }
    if digits.is_empty() {
        "-".into()
    } else {
        digits
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |index: usize| u8::from_str_radix(&hex[index..index + 2], 16).expect("hexadecimal");
    if hex == "-" {
        Vec::new()
    } else {
        (0..hex.len()).step_by(2).map(digit).collect()
    }
}
