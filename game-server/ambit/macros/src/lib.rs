//! The derive macros of the crate `ambit`, which documents and re-exports them.
//!
//! Each macro reads one item and generates the implementation of one trait of `ambit`. All names in
//! the generated code are absolute (`::ambit::__private`), so a game needs no other dependency and
//! no imports. Errors that a macro can see are reported by it, at the place of the mistake; errors
//! that depend on types (an unknown component type) are reported by the compiler, with the messages
//! that the traits of `ambit` define.

mod attributes;
mod choice;
mod command;
mod controls;
mod declare;
mod effect;
mod entry;
mod event;
mod kind;
mod message_field;
mod names;
mod once;
mod parameters;
mod refusal;
mod saved;
mod signs;
mod sound;
mod stub;

use proc_macro::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_macro_input};

type Expansion = syn::Result<proc_macro2::TokenStream>;

/// What only rooms need of an item; nothing in a crate that is compiled for clients alone.
fn with_rules(generated: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    if cfg!(feature = "rules") { generated } else { proc_macro2::TokenStream::new() }
}

/// After a mistake: the error, and stubs ([`stub`]) for what could not be generated.
fn expand(
    input: TokenStream,
    expansion: fn(&DeriveInput) -> Expansion,
    stub: fn(&DeriveInput) -> proc_macro2::TokenStream,
) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    once::check(&input)
        .and_then(|()| expansion(&input))
        .unwrap_or_else(|error| {
            let error = error.to_compile_error();
            let stub = stub(&input);
            quote!(#error #stub)
        })
        .into()
}

/// Declares a kind of object by a struct of components; the first one says where its objects are,
/// unless the kind is `#[kind(room_wide)]` or `#[kind(world_wide)]`.
/// The page of the crate `ambit` lists the attributes.
#[proc_macro_derive(
    Kind,
    attributes(
        kind, look, variant, effect, interest, freshness, reckoning, audience, pose, component
    )
)]
pub fn kind(input: TokenStream) -> TokenStream {
    expand(input, kind::expand, kind::stub)
}

/// Declares an event by a struct of fields. One of them is the object that it is about; an event
/// without any object is announced to the room.
#[proc_macro_derive(Event, attributes(event, about, effect))]
pub fn event(input: TokenStream) -> TokenStream {
    expand(input, event::expand, stub::of_event)
}

/// Declares a sound by a struct without fields: what is heard of an event where it is not seen.
#[proc_macro_derive(Sound, attributes(sound))]
pub fn sound(input: TokenStream) -> TokenStream {
    expand(input, sound::expand, stub::of_sound)
}

/// Declares the commands of a game by an enum; the documentation of a variant is its help text.
#[proc_macro_derive(Command, attributes(command, field))]
pub fn command(input: TokenStream) -> TokenStream {
    expand(input, command::expand, stub::of_command)
}

/// Declares the reasons for which a game refuses commands by an enum: each has a `#[text("...")]`.
#[proc_macro_derive(Refusal, attributes(refusal, text, code))]
pub fn refusal(input: TokenStream) -> TokenStream {
    expand(input, refusal::expand, stub::of_refusal)
}

/// Declares what a room of the game can be created with, by a struct: the documentation of a field
/// is its help text.
#[proc_macro_derive(Parameters, attributes(parameter, room))]
pub fn parameters(input: TokenStream) -> TokenStream {
    expand(input, parameters::expand, stub::of_parameters)
}

/// Declares a choice, a type of fields of commands and events, by an enum of names.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    expand(input, choice::expand, stub::of_choice)
}

/// Declares what a list is made of, by a struct of fields.
#[proc_macro_derive(Entry)]
pub fn entry(input: TokenStream) -> TokenStream {
    expand(input, entry::expand, stub::of_entry)
}

/// Declares the controls of a game by an enum: `#[key("...")]` names the default keys of each, its
/// documentation is for players. `#[control(axis)]` is a lever from -1 to 1, `#[control(angle)]` a
/// direction.
#[proc_macro_derive(Controls, attributes(key, control))]
pub fn controls(input: TokenStream) -> TokenStream {
    expand(input, controls::expand, stub::of_controls)
}

/// Lists what a game consists of:
/// `#[declare(kinds(...), events(...), sounds(...), timer = ..., controls = ..., parameters = ...,
/// profile = ..., seat = ...)]`.
#[proc_macro_derive(Declare, attributes(declare))]
pub fn declare(input: TokenStream) -> TokenStream {
    expand(input, declare::expand, declare::stub)
}

/// `serde::Serialize` for crates that do not depend on serde.
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn serialize(input: TokenStream) -> TokenStream {
    expand(input, saved::expand_serialize, stub::of_serialize)
}

/// `serde::Deserialize` for crates that do not depend on serde.
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn deserialize(input: TokenStream) -> TokenStream {
    expand(input, saved::expand_deserialize, stub::of_deserialize)
}
