//! What is named by words: shapes, figures, signs, elements, and the variants of a kind.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::{Attribute, Expr, Ident, Lit, Result};

use crate::attributes::{error, read_option};

pub(crate) const FIGURES: [&str; 12] = [
    "knight", "mage", "archer", "healer", "trader", "round", "horned", "beast", "robed", "chest",
    "trap", "toy",
];

pub(crate) fn some(tokens: &TokenStream) -> TokenStream {
    option_of(Some(tokens))
}

/// The tokens of an `Option`.
pub(crate) fn option_of(value: Option<impl ToTokens>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

/// A value of an enum whose values are named by words.
pub(crate) fn read_word(word: &Ident, ty: &str, known: &[&str]) -> Result<TokenStream> {
    let Some(found) = known.iter().find(|name| word == *name) else {
        let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        let what = ty.trim_start_matches("Text").to_lowercase();
        let article = if what.starts_with(['e', 'o']) { "an" } else { "a" };
        let message = format!("{article} {what} is one of {}", known.join(", "));
        return Err(error(word, message));
    };
    let (ty, variant) =
        (format_ident!("{ty}"), format_ident!("{}{}", found[..1].to_uppercase(), found[1..]));
    Ok(quote!(::ambit::__private::#ty::#variant))
}

/// `#[variant("rat", figure = beast, size = 0.8, boss)]`; told by a number or a flag: `3`, `true`.
pub(crate) fn read_variant(attribute: &Attribute) -> Result<TokenStream> {
    let mut of = String::new();
    let mut figure = quote!(::core::option::Option::None);
    let mut size = quote!(1.0);
    let mut is_boss = false;
    attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
        of = read_told(input)?;
        if input.parse::<Option<syn::Token![,]>>()?.is_none() {
            return Ok(());
        }
        let known = "`figure = beast`, `size = 0.8`, `boss`";
        syn::meta::parser(|meta| {
            read_option(&meta, known, |option, meta| {
                match option {
                    "figure" => {
                        figure = some(&read_word(&meta.value()?.parse()?, "Figure", &FIGURES)?);
                    }
                    "size" => {
                        let given: Expr = meta.value()?.parse()?;
                        size = quote!(#given);
                    }
                    "boss" => is_boss = true,
                    _ => return Ok(false),
                }
                Ok(true)
            })
        })
        .parse2(input.parse()?)
    })?;
    Ok(quote! {
        ::ambit::__private::Variant {
            of: #of.into(),
            figure: #figure,
            size: #size,
            boss: #is_boss,
        }
    })
}

/// What tells a variant, as clients write it: `"rat"`, `3` or `true`.
fn read_told(input: syn::parse::ParseStream<'_>) -> Result<String> {
    let minus = if input.parse::<Option<syn::Token![-]>>()?.is_some() { "-" } else { "" };
    let literal: Lit = input.parse()?;
    match &literal {
        Lit::Int(number) => Ok(format!("{minus}{}", number.base10_parse::<i64>()?)),
        Lit::Str(text) if minus.is_empty() => Ok(text.value()),
        Lit::Bool(flag) if minus.is_empty() => Ok(flag.value.to_string()),
        _ => Err(error(&literal, "a variant is told by a text, a whole number, `true` or `false`")),
    }
}

/// `sign = fire`, of a command, a choice or a flag.
pub(crate) fn read_sign(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    const SIGNS: [&str; 20] = [
        "fire", "burst", "frost", "heal", "renew", "shield", "hide", "dash", "sword", "arrow",
        "bolt", "call", "trap", "roar", "light", "ready", "share", "drop", "whirl", "push",
    ];
    read_word(&meta.value()?.parse()?, "Sign", &SIGNS)
}

/// `made_of = ice`, of a choice.
pub(crate) fn read_element(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    const ELEMENTS: [&str; 9] =
        ["fire", "ice", "venom", "life", "light", "arrow", "storm", "shadow", "force"];
    read_word(&meta.value()?.parse()?, "Element", &ELEMENTS)
}
