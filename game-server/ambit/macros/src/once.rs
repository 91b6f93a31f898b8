//! Options of attributes that are given twice: the last one would win without a word.
//!
//! All attributes are read alike, before a derive reads its own: options with commas between them,
//! each a name, `NAME = VALUE` or `NAME(...)`, where the options in the parentheses count by
//! themselves. What begins otherwise, such as a key or a text, is no option.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Data, DeriveInput, Field, Meta, Result};

use crate::attributes::error;

/// Those that have options. A kind may have several of [`VARIANT`], each with options of its own.
const WITH_OPTIONS: &str = "choice command component control declare effect event field freshness \
                            interest kind look parameter pose reckoning refusal room sound";
const VARIANT: &str = "variant";
/// Options that another one of the same name continues.
const LISTS: [&str; 3] = ["declare kinds", "declare events", "declare sounds"];
/// Those that say one thing.
const SINGLE: [&str; 3] = ["audience", "code", "text"];

/// Refuses what is given twice at the item, a field or a variant.
pub(crate) fn check(input: &DeriveInput) -> Result<()> {
    let of_field = |field: &Field| check_attributes(&field.attrs);
    check_attributes(&input.attrs)?;
    match &input.data {
        Data::Struct(item) => item.fields.iter().try_for_each(of_field),
        Data::Enum(item) => item.variants.iter().try_for_each(|variant| {
            check_attributes(&variant.attrs)?;
            variant.fields.iter().try_for_each(of_field)
        }),
        Data::Union(_) => Ok(()),
    }
}

fn check_attributes(attributes: &[Attribute]) -> Result<()> {
    let mut given = BTreeSet::new();
    for attribute in attributes {
        let Meta::List(list) = &attribute.meta else { continue };
        let is = |name: &&str| attribute.path().is_ident(name);
        if let Some(name) = SINGLE.into_iter().find(is)
            && !given.insert(name.to_owned())
        {
            return Err(error(attribute, format!("`{name}` is given twice: remove one of them")));
        } else if is(&VARIANT) {
            check_options("", list.tokens.clone(), &mut BTreeSet::new())?;
        } else if let Some(name) = WITH_OPTIONS.split(' ').find(is) {
            check_options(name, list.tokens.clone(), &mut given)?;
        }
    }
    Ok(())
}

/// Adds what is given to `given`, where each option has the path to it.
fn check_options(path: &str, tokens: TokenStream, given: &mut BTreeSet<String>) -> Result<()> {
    let is_sign =
        |token: &TokenTree, sign| matches!(token, TokenTree::Punct(it) if it.as_char() == sign);
    let tokens: Vec<_> = tokens.into_iter().collect();
    for option in tokens.split(|token| is_sign(token, ',')) {
        let [TokenTree::Ident(name), value @ ..] = option else { continue };
        let within = match value {
            [] => TokenStream::new(),
            [TokenTree::Group(group)] => group.stream(),
            [sign, ..] if is_sign(sign, '=') => TokenStream::new(),
            _ => continue,
        };
        let path = format!("{path} {name}");
        let is_list = LISTS.contains(&&*path);
        check_options(&path, within, given)?;
        if !given.insert(path) && !is_list {
            return Err(error(name, format!("`{name}` is given twice: remove one of them")));
        }
    }
    Ok(())
}
