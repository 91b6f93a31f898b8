//! Parts of items that several macros read: attributes, names, documentation.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Expr, ExprLit, Field, Fields, Ident, Lit, LitStr, Meta,
    Result, Type, Variant,
};

use crate::names;

/// `ambit_proto::schema::MAX_LABEL_BYTES`.
const MAX_LABEL_BYTES: usize = 40;

pub(crate) fn error(at: &impl ToTokens, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new_spanned(at, message)
}

/// An error about an option in an attribute that has no meaning there.
pub(crate) fn unknown_option(meta: &ParseNestedMeta<'_>, known: &str) -> syn::Error {
    let name = meta.path.to_token_stream().to_string();
    meta.error(format!("unknown option `{name}`; known: {known}"))
}

/// Reads the options of all attributes of this name. `read` returns whether it knows an option; for
/// the mistake if not, `known` lists those that there are.
pub(crate) fn read_options(
    attributes: &[Attribute],
    attribute: &str,
    known: &str,
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<bool>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|a| a.path().is_ident(attribute)) {
        attribute.parse_nested_meta(|meta| read_option(&meta, known, &mut read))?;
    }
    Ok(())
}

/// Reads one option like [`read_options`].
pub(crate) fn read_option(
    meta: &ParseNestedMeta<'_>,
    known: &str,
    read: impl FnOnce(&str, &ParseNestedMeta<'_>) -> Result<bool>,
) -> Result<()> {
    let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
    if read(&name, meta)? { Ok(()) } else { Err(unknown_option(meta, known)) }
}

/// Refuses type parameters and lifetimes.
pub(crate) fn require_no_generics(input: &DeriveInput, what: &str) -> Result<()> {
    if input.generics.params.is_empty() {
        Ok(())
    } else {
        let message = format!(
            "{what} cannot be generic: its declaration is sent to clients, which need one \
             definite type; write one struct or enum for each case"
        );
        Err(error(&input.generics, message))
    }
}

/// The fields of a struct with named fields, or without any.
pub(crate) fn named_fields<'i>(
    input: &'i DeriveInput,
    what: &str,
    example: &str,
) -> Result<Vec<&'i Field>> {
    let Data::Struct(item) = &input.data else {
        return Err(error(
            &input.ident,
            format!("{what} is a struct with named fields: `{example}`"),
        ));
    };
    match &item.fields {
        Fields::Named(fields) => Ok(fields.named.iter().collect()),
        Fields::Unit => Ok(Vec::new()),
        Fields::Unnamed(fields) => Err(error(
            fields,
            format!("{what} needs named fields, for clients see the names: `{example}`"),
        )),
    }
}

/// The variants of an enum.
pub(crate) fn variants<'i>(
    input: &'i DeriveInput,
    what: &str,
    example: &str,
) -> Result<&'i DataEnum> {
    match &input.data {
        Data::Enum(item) => Ok(item),
        _ => Err(error(&input.ident, format!("{what} are an enum: `{example}`"))),
    }
}

/// Refuses fields of a variant.
pub(crate) fn require_unit(variant: &Variant, what: &str) -> Result<()> {
    if matches!(variant.fields, Fields::Unit) {
        Ok(())
    } else {
        Err(error(&variant.fields, format!("{what} has no fields: only its name is sent")))
    }
}

/// The first lines of a documentation comment, joined: a help text. Empty if there is none.
pub(crate) fn first_paragraph(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(
        |attribute| match &attribute.meta {
            Meta::NameValue(value) => text_of(&value.value),
            _ => None,
        },
    );
    let mut text = String::new();
    for line in lines {
        let line = line.trim();
        if line.is_empty() {
            if text.is_empty() {
                continue;
            }
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
    text
}

/// The documentation of a field, for a method of the same name.
pub(crate) fn documentation(attributes: &[Attribute], otherwise: &str) -> TokenStream {
    let lines: Vec<_> =
        attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).collect();
    if lines.is_empty() { quote!(#[doc = #otherwise]) } else { quote!(#(#lines)*) }
}

/// A name that an attribute gives, checked; otherwise `default`, checked.
pub(crate) fn checked_name(given: Option<LitStr>, default: String, at: Span) -> Result<String> {
    let (name, span) = match given {
        Some(given) => (given.value(), given.span()),
        None => (default, at),
    };
    match names::find_problem(&name) {
        Some(problem) => Err(syn::Error::new(span, problem)),
        None => Ok(name),
    }
}

/// Reads `label = "..."`: what players read instead of a name.
pub(crate) fn read_label(meta: &ParseNestedMeta<'_>) -> Result<String> {
    let label: LitStr = meta.value()?.parse()?;
    let text = label.value();
    if text.is_empty() || text.len() > MAX_LABEL_BYTES || text.chars().any(char::is_control) {
        let message = format!(
            "a label has 1 to {MAX_LABEL_BYTES} bytes and no control characters: players read it \
             instead of the name"
        );
        return Err(error(&label, message));
    }
    Ok(text)
}

/// Reads `#[NAME(name = "...")]`, an attribute with this single option.
pub(crate) fn given_name(attributes: &[Attribute], attribute: &str) -> Result<Option<LitStr>> {
    let mut name = None;
    read_options(attributes, attribute, "`name = \"...\"`", |option, meta| {
        match option {
            "name" => name = Some(meta.value()?.parse()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(name)
}

/// `<TYPE as TRAIT>::ITEM` with the place of the whole type: the compiler reports a bad type once,
/// however often it is mentioned.
pub(crate) fn qualified(ty: &Type, role: &TokenStream, item: &TokenStream) -> TokenStream {
    let spans: Vec<_> = ty.to_token_stream().into_iter().map(|token| token.span()).collect();
    let first = spans.first().copied().unwrap_or_else(Span::call_site);
    let last = spans.last().copied().unwrap_or(first);
    let item = item.clone().into_iter().map(|mut token| {
        token.set_span(last);
        token
    });
    let open = quote_spanned!(first=> <);
    let close = quote_spanned!(last=> as #role>::);
    quote!(#open #ty #close #(#item)*)
}

/// Refuses a name that two items of a list have. `what` names them ("controls"), and `remedy` says
/// what to do.
pub(crate) fn require_distinct<'n>(
    what: &str,
    remedy: &str,
    names: impl IntoIterator<Item = (&'n String, Span)>,
) -> Result<()> {
    let mut before: Vec<&String> = Vec::new();
    for (name, span) in names {
        if before.contains(&name) {
            let message = format!("two {what} have the name `{name}`: {remedy}");
            return Err(syn::Error::new(span, message));
        }
        before.push(name);
    }
    Ok(())
}

/// Refuses a list that is longer than the wire can carry.
pub(crate) fn require_at_most(
    max: usize,
    count: usize,
    what: &str,
    at: &impl ToTokens,
) -> Result<()> {
    if count <= max {
        return Ok(());
    }
    let message = format!("{count} {what}: at most {max} are possible");
    Err(syn::Error::new(at.span(), message))
}

fn text_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
