//! What a client can't give as a command.
use ambit::message::TypedCommand;
use ambit::prelude::*;

#[derive(Choice)]
enum Spell {
    Bolt,
}

/// As `Game::command` of the crate `ambit-client`.
fn command(_: impl TypedCommand) {}

fn main() {
    command("rest");
    command(Spell::Bolt);
}
