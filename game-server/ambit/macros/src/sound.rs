//! `#[derive(Sound)]`: what is heard of an event where it is not seen.

use quote::quote;
use syn::DeriveInput;

use crate::Expansion;
use crate::attributes::{checked_name, error, given_name, named_fields, require_no_generics};
use crate::{names, with_rules};

const EXAMPLE: &str = "struct Bang;";

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a sound")?;
    if let Some(field) = named_fields(input, "a sound", EXAMPLE)?.first() {
        let message = format!(
            "a sound has no fields of its own, for it tells nothing but a direction and a \
             loudness: `{EXAMPLE}`"
        );
        return Err(error(field, message));
    }
    let sound = &input.ident;
    let given = given_name(&input.attrs, "sound")?;
    let name = checked_name(given, names::snake_case(sound), sound.span())?;
    let in_rooms = with_rules(quote! {
        #[automatically_derived]
        impl ::ambit::Sound for #sound {
            fn declaration() -> ::ambit::__private::EventKind {
                ::ambit::__private::sound_kind(#name)
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::message::TypedSound for #sound {
            const NAME: &'static str = #name;
        }

        #in_rooms
    })
}
