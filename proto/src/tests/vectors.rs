//! Test vectors for clients in other languages: `tests/vectors/*.json`.
//!
//! Each file has the vectors of one group: bytes, what they mean, and what a reader knows
//! beforehand. They are made here from values by the encoders of this crate, read again by its
//! decoders, and compared with the committed files. `tests/vectors/README.md` says how to read
//! them.
//!
//! **To renew the files** after a change of the formats (a new version of the protocol):
//! `AMBIT_RENEW_VECTORS=1 cargo test -p ambit-proto vectors`.
//!
//! **To add a vector**: write it into its group, and its name into [`GROUPS`].

pub(crate) mod json;
mod maps;
mod messages;
mod poses;
mod records;
pub(crate) mod test_vector;
mod values;

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::json::Json;
use self::test_vector::TestVector;

const HELP: &str = "The files in proto/tests/vectors must be what this build writes. If the format \
    was meant to change, raise message::VERSION, and renew them by \
    `AMBIT_RENEW_VECTORS=1 cargo test -p ambit-proto vectors`";

/// A file of vectors.
struct VectorGroup {
    name: &'static str,
    vectors: fn() -> Vec<TestVector>,
    /// The names of all vectors, in their order: none may get lost.
    names: &'static [&'static str],
}

const GROUPS: [VectorGroup; 6] = [
    VectorGroup {
        name: "link",
        vectors: crate::link::tests::vectors::datagrams,
        names: &[
            "no-acknowledgement",
            "body-only",
            "acknowledgement-only",
            "one-missing",
            "one-missing-highest",
            "mask",
            "mask-of-none",
            "mask-at-the-beginning",
            "numbers-wrap",
            "number-of-a-late-datagram",
            "ping",
            "pong",
            "everything",
            "message",
            "messages-with-skipped-ids",
            "messages-whose-ids-wrap",
        ],
    },
    VectorGroup {
        name: "blocks",
        vectors: crate::link::tests::vectors::blocks,
        names: &[
            "slice",
            "slice-last-of-a-chunk",
            "slice-last-of-a-block",
            "slice-and-body",
            "set-of-all-slices",
            "set-of-runs",
            "set-of-runs-without-the-first-slice",
            "set-of-bits",
        ],
    },
    VectorGroup {
        name: "maps",
        vectors: maps::vectors,
        names: &["map-empty", "map-box", "map-turned-box", "map-cylinder", "map-looks"],
    },
    VectorGroup {
        name: "messages",
        vectors: messages::vectors,
        names: &[
            "uplink-empty",
            "uplink-report",
            "uplink-keys",
            "uplink-change-of-one-control",
            "uplink-change-of-several-controls",
            "uplink-changes",
            "uplink-lost-track",
            "uplink-axes",
            "uplink-all",
            "command-position",
            "command-without-fields",
            "command-choice",
            "command-optional-fields",
            "command-number-and-text",
            "command-angle-and-half",
            "event-all-fields",
            "event-unknown-object",
            "event-large",
            "refused",
            "refused-by-the-game",
        ],
    },
    VectorGroup {
        name: "records",
        vectors: records::vectors,
        names: &[
            "documented-example",
            "no-records",
            "stamp-after-the-bits-wrapped",
            "two-records",
            "records-and-poses",
            "enter-own-avatar",
            "enter-avatar-of-another-player",
            "enter-with-a-part",
            "enter-room-wide",
            "enter-without-components",
            "update",
            "leave",
            "leave-earlier",
            "path-one-point",
            "path-several-points",
            "path-as-known",
            "gauge-steady",
            "gauge-several-points",
            "flag",
            "number",
            "number-below-zero",
            "angle",
            "half",
            "half-small",
            "text",
            "text-empty",
            "text-for-a-team",
            "counts",
            "counts-empty",
            "rows",
            "rows-empty",
            "bytes",
            "pose-fixed",
            "pose-yaw",
            "pose-free",
            "pose-free-moving",
            "pose-free-at-rest",
            "input-effects-one",
            "input-effects-three",
        ],
    },
    VectorGroup {
        name: "poses",
        vectors: poses::vectors,
        names: &[
            "empty",
            "acked-all",
            "acked-all-but-one",
            "acked-below-an-index",
            "acked-the-newest-alone",
            "acked-mask",
            "acked-farthest",
            "shared-yaw-absolute",
            "shared-yaw-jumped",
            "shared-yaw-unchanged",
            "shared-yaw-straight",
            "shared-yaw-turning",
            "shared-yaw-turned-around",
            "shared-yaw-started",
            "shared-yaw-stopped-and-fallen",
            "shared-yaw-teleported",
            "shared-yaw-baseline-of-500-ms",
            "shared-yaw-baseline-of-1000-ms",
            "shared-yaw-old",
            "shared-yaw-fine-grid",
            "shared-fixed-absolute",
            "shared-free-absolute",
            "shared-motion-absolute",
            "shared-motion-absolute-at-rest",
            "shared-fixed-unchanged",
            "shared-fixed-steps-of-one",
            "shared-free-turned",
            "shared-free-tipped",
            "shared-free-old",
            "shared-fixed-motion",
            "shared-free-motion",
            "shared-motion-lands",
            "shared-motion-starts",
            "shared-motion-at-rest",
            "shared-slots",
            "shared-modes",
            "shared-twelve-objects",
            "fine-empty",
            "fine-yaw-absolute",
            "fine-fixed-absolute",
            "fine-free-absolute",
            "fine-motion-absolute",
            "fine-motion-absolute-at-rest",
            "fine-yaw",
            "fine-fixed",
            "fine-free-unchanged",
            "fine-free-motion",
            "fine-motion-lands",
            "fine-motion-at-rest",
            "fine-free-old",
            "fine-modes",
            "fine-twelve-objects",
            "fine-reference",
            "plain-empty",
            "plain-yaw",
            "plain-extremes",
            "plain-free",
            "plain-fixed",
            "plain-motion",
            "plain-motion-at-rest",
            "plain-jumped",
            "plain-several-objects",
        ],
    },
];

#[test]
fn the_files_of_vectors_are_what_this_build_writes() {
    for group in &GROUPS {
        let vectors = (group.vectors)();
        let items: Vec<Json> = vectors.iter().map(TestVector::to_json).collect();
        let text = Json::to_file(&items);
        if std::env::var_os("AMBIT_RENEW_VECTORS").is_some() {
            std::fs::write(path(group), &text).expect("the file can be written");
        }
        let stored = std::fs::read_to_string(path(group))
            .unwrap_or_else(|error| panic!("{}: {error}. {HELP}", path(group).display()));
        if let Some((line, (ours, theirs))) =
            (1..).zip(text.lines().zip(stored.lines())).find(|(_, (ours, theirs))| ours != theirs)
        {
            let file = group.name;
            panic!("{file}.json:{line}: this build writes\n{ours}\nnot\n{theirs}\n{HELP}");
        }
        assert!(text == stored, "{}.json has another length. {HELP}", group.name);
    }
}

#[test]
fn no_vector_is_missing_and_none_has_the_name_of_another() {
    for group in &GROUPS {
        let names: Vec<_> = (group.vectors)().iter().map(|vector| vector.name).collect();
        assert_eq!(names, group.names, "{}.json", group.name);
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{}.json: a name occurs twice", group.name);
    }
}

fn path(group: &VectorGroup) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/{}.json", group.name))
}
