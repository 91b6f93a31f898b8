//! What an author of a game sees after a mistake: each message says what to do.
//!
//! `TRYBUILD=overwrite cargo test --test messages` writes the messages again after a change; read
//! them before you commit them.

#[test]
fn messages_of_the_macros_say_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
