//! The page that servers contain is committed, so that a server needs no Node.js. It must speak the
//! server's protocols; that it works, tests with browsers show.

use ambit_proto::control::WORLD_VERSION;
use ambit_proto::message;

use crate::source::{read, root};

#[test]
fn the_page_in_servers_speaks_their_protocols() {
    let spoken = read(&root().join("world-server/bundle/protocols"));
    let expected = format!("lobby {WORLD_VERSION}\ngame {}\n", message::VERSION);
    assert_eq!(
        spoken, expected,
        "the protocols have changed since the page was made: run client-core/web/build and commit \
         world-server/bundle"
    );
}
