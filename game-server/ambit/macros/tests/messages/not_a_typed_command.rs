//! What a client can't give as a command, and what is no type of its objects' ids.
use ambit::message::{TypedCommand, TypedId};
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Choice)]
enum Spell {
    Bolt,
}

/// As `Game::command` of the crate `ambit-client`.
fn command(_: impl TypedCommand) {}

/// As `FrameObject::typed_id` there.
fn typed_id<T: TypedId>() -> Option<T> {
    None
}

fn main() {
    command("rest");
    command(Spell::Bolt);
    typed_id::<Walker>();
}
