//! The page that servers contain is committed, so that a server needs no Node.js. The test compares
//! what it was made of with the sources of now.

use std::process::Command;

use ambit_transport::quic::Fingerprint;
use ring::digest::{SHA256, digest};

use crate::source::{read, root};

#[test]
fn the_bundle_of_the_page_was_made_of_these_sources() {
    let web = root().join("client-core/web");
    let listed = Command::new(web.join("sources")).output();
    let listed = listed.expect("client-core/web/sources can be started");
    let complaint = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "client-core/web/sources: {complaint}");
    let now = digest(&SHA256, &listed.stdout);
    let now = Fingerprint::try_from(now.as_ref()).expect("32 bytes");
    assert_eq!(
        now.to_string(),
        read(&web.join("bundle/sources.sha256")).trim(),
        "the sources of the page have changed since its bundle was made: run client-core/web/build \
         and commit client-core/web/bundle"
    );
}
