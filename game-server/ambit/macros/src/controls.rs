//! `#[derive(Controls)]`: what players of a game hold down and press.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Ident, LitStr, Result, Token, Variant};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, first_paragraph, require_at_most, require_no_generics, require_unit,
    unknown_option, variants,
};
use crate::names;

const EXAMPLE: &str = "enum Key { #[key(\"a\")] TurnLeft, #[key(\"space\")] Fire }";
const KNOWN: &str = "`name = \"...\"`, `tapped`, `direction = east` (or north, west, south)";
/// `ambit_proto::keymap::CONTROLS`.
const MAX_CONTROLS: usize = 32;

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "an enum of controls")?;
    let item = variants(input, "controls", EXAMPLE)?;
    require_at_most(MAX_CONTROLS, item.variants.len(), "controls", &input.ident)?;
    if item.variants.is_empty() {
        return Err(error(&input.ident, format!("controls need a variant: `{EXAMPLE}`")));
    }
    let controls = &input.ident;
    let read = item.variants.iter().map(read).collect::<Result<Vec<_>>>()?;
    let (names, declarations): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let idents: Vec<_> = item.variants.iter().map(|variant| &variant.ident).collect();
    let indices: Vec<_> = (0_u8..).take(idents.len()).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Controls for #controls {
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn declarations() -> ::std::vec::Vec<::ambit::__private::ControlSpec> {
                ::std::vec![#(#declarations),*]
            }

            fn index(self) -> u8 {
                match self {
                    #(Self::#idents => #indices),*
                }
            }
        }
    })
}

/// Name and declaration.
fn read(variant: &Variant) -> Result<(String, TokenStream)> {
    require_unit(variant, "a control")?;
    let (mut given, mut tapped, mut direction, mut keys) = (None, false, None, Vec::new());
    for attribute in &variant.attrs {
        if attribute.path().is_ident("key") {
            let list = attribute.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated);
            for key in list? {
                keys.push(checked_key(&key)?);
            }
        } else if attribute.path().is_ident("control") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    given = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("tapped") {
                    tapped = true;
                } else if meta.path.is_ident("direction") {
                    direction = Some(read_direction(&meta.value()?.parse()?)?);
                } else {
                    return Err(unknown_option(&meta, KNOWN));
                }
                Ok(())
            })?;
        }
    }
    let name = checked_name(given, names::kebab_case(&variant.ident), variant.ident.span())?;
    let label = first_paragraph(&variant.attrs);
    let direction = direction.map_or_else(
        || quote!(::core::option::Option::None),
        |way| quote!(::core::option::Option::Some(::ambit::__private::Direction::#way)),
    );
    let declaration = quote! {
        ::ambit::__private::ControlSpec {
            name: #name.into(),
            label: #label.into(),
            keys: ::std::vec![#(#keys.into()),*],
            is_tapped: #tapped,
            direction: #direction,
        }
    };
    Ok((name, declaration))
}

fn checked_key(key: &LitStr) -> Result<String> {
    let name = key.value();
    if names::find_problem(&name).is_none() {
        return Ok(name);
    }
    let message = format!(
        "there is no key {name:?}: write the key of a browser's `KeyboardEvent` in lower case, \
         like \"a\", \"arrowleft\" or \"shift\", and \"space\" for the space bar"
    );
    Err(error(key, message))
}

fn read_direction(given: &Ident) -> Result<Ident> {
    let known = ["East", "North", "West", "South"];
    let found = known.into_iter().find(|known| *given == known.to_lowercase());
    let message = "a direction is one of the map: `east`, `north`, `west` or `south`";
    Ok(Ident::new(found.ok_or_else(|| error(given, message))?, given.span()))
}
