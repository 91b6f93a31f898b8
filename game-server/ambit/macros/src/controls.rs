//! `#[derive(Controls)]`: what players of a game hold down, press and move.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Ident, LitStr, Result, Token, Variant};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, first_paragraph, read_label, read_options, require_at_most,
    require_distinct, require_no_generics, require_unit, variants,
};
use crate::names;
use crate::signs::option_of;

const EXAMPLE: &str = "enum Key { #[key(\"a\")] TurnLeft, #[key(\"space\")] Fire }";
const KNOWN: &str = "`name = \"...\"`, `label = \"...\"`, `tapped`, `direction = east` (or north, \
     west, south), `axis`, `angle`";
/// `ambit_proto::keymap::CONTROLS`.
const MAX_CONTROLS: usize = 32;
/// `ambit_proto::axes::MAX_AXES`.
const MAX_AXES: usize = 4;

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "an enum of controls")?;
    let item = variants(input, "controls", EXAMPLE)?;
    require_at_most(MAX_CONTROLS, item.variants.len(), "controls", &input.ident)?;
    if item.variants.is_empty() {
        return Err(error(&input.ident, format!("controls need a variant: `{EXAMPLE}`")));
    }
    let controls = &input.ident;
    let read = item.variants.iter().map(read).collect::<Result<Vec<_>>>()?;
    if let Some(beyond) = read.iter().filter(|control| control.is_axis).nth(MAX_AXES) {
        let message = format!("a game has at most {MAX_AXES} axes and angles");
        return Err(error(&beyond.ident, message));
    }
    let named = read.iter().map(|control| (&control.name, control.ident.span()));
    require_distinct("controls", "give one another name with `#[control(name = \"...\")]`", named)?;
    for (place, (key, span)) in read.iter().flat_map(|control| &control.keys).enumerate() {
        let mut before = read.iter().flat_map(|control| &control.keys).take(place);
        if before.any(|(other, _)| other == key) {
            let message = format!("the key {key:?} is given twice: a key is of one control");
            return Err(syn::Error::new(*span, message));
        }
    }
    let names = read.iter().map(|control| &control.name);
    let declarations = read.iter().map(|control| &control.declaration);
    let axes = read.iter().map(|control| &control.axis);
    let idents: Vec<_> = item.variants.iter().map(|variant| &variant.ident).collect();
    let indices: Vec<_> = (0_u8..).take(idents.len()).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Controls for #controls {
            const NAMES: &'static [&'static str] = &[#(#names),*];
            const AXES: &'static [::core::option::Option<::ambit::__private::AxisKind>] =
                &[#(#axes),*];

            fn declarations() -> ::std::vec::Vec<::ambit::__private::ControlDeclaration> {
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

#[derive(Clone, Copy)]
enum AxisOption {
    Linear,
    Angle,
}

struct ReadControl {
    ident: Ident,
    name: String,
    keys: Vec<(String, Span)>,
    is_axis: bool,
    /// Its kind, as an `Option`.
    axis: TokenStream,
    declaration: TokenStream,
}

fn read(variant: &Variant) -> Result<ReadControl> {
    require_unit(variant, "a control")?;
    let mut given = None;
    let mut tapped = false;
    let mut direction = None;
    let mut keys = Vec::new();
    let mut label = String::new();
    let mut axis = None::<AxisOption>;
    for attribute in variant.attrs.iter().filter(|a| a.path().is_ident("key")) {
        let list = attribute.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated);
        for key in list? {
            keys.push((checked_key(&key)?, key.span()));
        }
    }
    read_options(&variant.attrs, "control", KNOWN, |option, meta| {
        match option {
            "name" => given = Some(meta.value()?.parse()?),
            "label" => label = read_label(meta)?,
            "tapped" => tapped = true,
            "direction" => direction = Some(read_direction(&meta.value()?.parse()?)?),
            "axis" => axis = Some(AxisOption::Linear),
            "angle" => axis = Some(AxisOption::Angle),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if let Some(axis) = axis {
        check_axis(&variant.ident, axis, tapped || direction.is_some(), keys.len())?;
    }
    let name = checked_name(given, names::kebab_case(&variant.ident), variant.ident.span())?;
    let help = first_paragraph(&variant.attrs);
    let direction = option_of(direction.map(|way| quote!(::ambit::__private::Direction::#way)));
    let is_axis = axis.is_some();
    let axis = option_of(axis.map(|axis| match axis {
        AxisOption::Linear => quote!(::ambit::__private::AxisKind::Linear),
        AxisOption::Angle => quote!(::ambit::__private::AxisKind::Angle),
    }));
    let key_names = keys.iter().map(|(key, _)| key);
    let declaration = quote! {(
        ::ambit::__private::ControlSpec {
            name: #name.into(),
            is_tapped: #tapped,
            axis: #axis,
        },
        ::ambit::__private::ControlPresentation {
            label: #label.into(),
            help: #help.into(),
            keys: ::std::vec![#(#key_names.into()),*],
            direction: #direction,
        },
    )};
    Ok(ReadControl { ident: variant.ident.clone(), name, keys, is_axis, axis, declaration })
}

/// `is_other` says that it has an option of what is held or pressed.
fn check_axis(control: &Ident, axis: AxisOption, is_other: bool, keys: usize) -> Result<()> {
    let problem = match axis {
        _ if is_other => {
            "`tapped` and `direction` are for what is held or pressed: an axis or an angle has \
             neither"
        }
        AxisOption::Linear if !keys.is_multiple_of(2) => {
            "the keys of an axis come in pairs, the first towards 1, the second towards -1: \
             `#[key(\"w\", \"s\")]`"
        }
        AxisOption::Angle if keys > 0 => {
            "an angle has no keys: players give it with a pointer, as the direction from their \
             avatar"
        }
        AxisOption::Linear | AxisOption::Angle => return Ok(()),
    };
    Err(error(control, problem))
}

fn checked_key(key: &LitStr) -> Result<String> {
    let name = key.value();
    if names::is_key(&name) {
        return Ok(name);
    }
    let known = names::KEYS.map(|key| format!("\"{key}\"")).join(", ");
    let message = format!(
        "there is no key {name:?}: write a letter in lower case or a digit, like \"a\" or \"1\", \
         \"f1\" to \"f12\", or one of {known}"
    );
    Err(error(key, message))
}

fn read_direction(given: &Ident) -> Result<Ident> {
    let known = ["East", "North", "West", "South"];
    let found = known.into_iter().find(|known| *given == known.to_lowercase());
    let message = "a direction is one of the map: `east`, `north`, `west` or `south`";
    Ok(Ident::new(found.ok_or_else(|| error(given, message))?, given.span()))
}
