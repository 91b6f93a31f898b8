//! The first component is no path and no pose.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    name: Text<24>,
    path: Path,
}

fn main() {}
