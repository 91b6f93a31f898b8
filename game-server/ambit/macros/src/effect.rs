//! `#[effect(hit, colour = 0xff4020, size = 1.5)]`: how simple viewers show that something happens.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Expr, Field, Ident, Result};

use crate::attributes::{error, unknown_option};

const FORMS: [&str; 9] =
    ["cast", "hit", "heal", "arrival", "death", "blast", "ring", "beam", "warning"];

/// An `Option` of the effect among the attributes; `fields` are those of an event.
pub(crate) fn read(attributes: &[Attribute], fields: &[&Field]) -> Result<TokenStream> {
    let mut effects = attributes.iter().filter(|a| a.path().is_ident("effect"));
    let Some(attribute) = effects.next() else {
        return Ok(quote!(::core::option::Option::None));
    };
    if let Some(second) = effects.next() {
        return Err(error(second, "there is one effect at most"));
    }
    let mut form = None;
    let mut options = Vec::new();
    attribute.parse_nested_meta(|meta| {
        let known = || {
            let places = if fields.is_empty() {
                ""
            } else {
                ", `at = FIELD`, `from = FIELD`, `reach = FIELD`, `due = FIELD`"
            };
            let forms = FORMS.map(|form| format!("`{form}`")).join(", ");
            format!("one of {forms}; `colour = 0xff4020`, `size = 1.5`{places}")
        };
        let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            name if FORMS.contains(&name) && form.is_none() => {
                form = Some(format_ident!("{}{}", name[..1].to_uppercase(), name[1..]));
            }
            "colour" | "size" => {
                let option = format_ident!("{}", if name == "size" { "size_m" } else { "colour" });
                let value: Expr = meta.value()?.parse()?;
                options.push(quote!(#option = #value));
            }
            "at" | "from" | "reach" | "due" if !fields.is_empty() => {
                let (option, field): (_, Ident) = (format_ident!("{name}"), meta.value()?.parse()?);
                let index = fields.iter().position(|other| other.ident.as_ref() == Some(&field));
                let message = || format!("there is no field `{field}`");
                let index = index.ok_or_else(|| error(&field, message()))? as u8;
                options.push(quote!(#option = ::core::option::Option::Some(#index)));
            }
            _ => return Err(unknown_option(&meta, &known())),
        }
        Ok(())
    })?;
    let form =
        form.ok_or_else(|| error(attribute, "say first what it looks like: `#[effect(hit)]`"))?;
    Ok(quote!({
        #[allow(unused_mut)]
        let mut effect = ::ambit::__private::Effect {
            form: ::ambit::__private::EffectForm::#form,
            ..::core::default::Default::default()
        };
        #(effect.#options;)*
        ::core::option::Option::Some(effect)
    }))
}
