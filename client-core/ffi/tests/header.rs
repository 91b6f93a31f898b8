//! The header is that of the functions.

use std::collections::BTreeMap;
use std::path::Path;

use cbindgen::{Builder, Config};

const FILE: &str = "include/ambit_client.h";

/// `AMBIT_RENEW_HEADER=1` writes the file.
#[test]
fn the_header_is_that_of_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(folder.join("cbindgen.toml")).expect("a configuration");
    let sources =
        ["exports.rs", "status.rs", "structs.rs"].map(|name| folder.join("src").join(name));
    let rows = folder.join("../boundary/src/frame_arrays.rs");
    let mut builder = Builder::new().with_config(config).with_src(rows);
    for source in sources {
        builder = builder.with_src(source);
    }
    let mut header = Vec::new();
    builder.generate().expect("sources that can be read").write(&mut header);
    let header = String::from_utf8(header).expect("a text");
    let path = folder.join(FILE);
    if std::env::var_os("AMBIT_RENEW_HEADER").is_some() {
        std::fs::write(&path, &header).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "{FILE} is stale; run this test with AMBIT_RENEW_HEADER=1");
}

/// C# cannot read the header: its numbers are compared with it.
#[test]
fn csharp_has_the_numbers_of_the_header() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("a file");
    let header = read(FILE);
    // `AMBIT_STATUS_NOT_POLLED = 25,` and `#define AMBIT_KIND 1`.
    let statuses = header.lines().filter_map(|line| line.trim().strip_prefix("AMBIT_STATUS_"));
    let statuses: BTreeMap<String, u32> = statuses
        .filter_map(|line| line.strip_suffix(',').and_then(|line| line.split_once(" = ")))
        .map(|(name, number)| (plain(name), number.parse().expect("a number")))
        .collect();
    let defines = header.lines().filter_map(|line| line.strip_prefix("#define AMBIT_"));
    let defines: BTreeMap<String, u32> = defines
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, number)| Some((plain(name), number.parse().ok()?)))
        .collect();
    assert_eq!(numbers(&read("csharp/Runtime/Status.cs"), "enum Status"), statuses);
    let client = read("csharp/Runtime/Client.cs");
    for list in ["enum Item", "enum Description"] {
        for (name, number) in numbers(&client, list) {
            assert_eq!(defines.get(&name), Some(&number), "{list}: {name}");
        }
    }
}

/// `CommandField` and `COMMAND_FIELD` are one name.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// The items of an `enum` of C#.
fn numbers(source: &str, list: &str) -> BTreeMap<String, u32> {
    let (_, items) = source.split_once(list).expect("the list");
    let (items, _) = items.split_once('}').expect("its end");
    let items = items.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    let items: BTreeMap<_, _> =
        items.map(|(name, number)| (plain(name), number.parse().expect("a number"))).collect();
    assert!(!items.is_empty(), "{list} has no items");
    items
}
