//! `#[derive(Event)]`: something that happens at one moment.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, DeriveInput, Field, LitStr, Result, Type};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, named_fields, read_label, read_options, require_at_most,
    require_no_generics,
};
use crate::message_field::{FieldCode, MAX_FIELDS};
use crate::{effect, names, with_rules};

const EXAMPLE: &str = "struct Damage { target: Id<Walker>, amount: i64 }";

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "an event")?;
    let fields = named_fields(input, "an event", EXAMPLE)?;
    require_at_most(MAX_FIELDS, fields.len(), "fields", &input.ident)?;
    let about = find_about(&fields)?;
    let event = &input.ident;
    let Options { name: given_name, text, lead } = options(&input.attrs, &fields)?;
    let name = checked_name(given_name, names::snake_case(event), event.span())?;
    let effect = effect::read(&input.attrs, &fields)?;
    let FieldCode { specs, values, readings } = FieldCode::of(&fields);
    let shown = fields.iter().map(|field| field_presentation(&field.ty, &FieldOptions::default()));
    // Of this macro, also where a type comes from another one.
    let this = quote!(self);
    let about = about.filter(|_| cfg!(feature = "rules")).map(|about| {
        let ident = &about.ident;
        let ty = &about.ty;
        let object = quote_spanned!(ty.span()=>
            ::ambit::__private::EventObject::object(&#this.#ident)
        );
        quote! {
            #[automatically_derived]
            impl ::ambit::AboutObject for #event {
                fn about(&self) -> ::ambit::ObjectId {
                    #object
                }
            }
        }
    });
    let in_rooms = with_rules(quote! {
        #[automatically_derived]
        impl ::ambit::Event for #event {
            fn into_fields(self) -> ::std::vec::Vec<::ambit::__private::Value> {
                ::std::vec![#(#values),*]
            }
        }
    });
    Ok(quote! {
        #about

        #[automatically_derived]
        impl ::ambit::message::TypedEvent for #event {
            const NAME: &'static str = #name;

            fn declaration() -> ::ambit::__private::EventDeclaration {
                (
                    ::ambit::__private::EventKind {
                        name: #name.into(),
                        fields: ::std::vec![#(#specs),*],
                    },
                    ::ambit::__private::EventPresentation {
                        text: #text.into(),
                        lead: #lead.into(),
                        effect: #effect,
                        fields: ::std::vec![#(#shown),*],
                    },
                )
            }

            fn from_fields(fields: &[::ambit::__private::Value]) -> ::core::option::Option<Self> {
                #[allow(unused_variables, unused_mut)]
                let mut fields = ::ambit::__private::Fields::of_client(fields);
                ::core::option::Option::Some(Self { #(#readings),* })
            }
        }

        #in_rooms
    })
}

/// `#[event(name = "...", text = "...", lead = "...")]`.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    text: String,
    lead: String,
}

fn options(attributes: &[Attribute], fields: &[&Field]) -> Result<Options> {
    let mut options = Options::default();
    let known = "`name = \"...\"`, `text = \"...\"`, `lead = \"...\"`";
    read_options(attributes, "event", known, |option, meta| {
        match option {
            "name" => options.name = Some(meta.value()?.parse()?),
            "text" => options.text = template(&meta.value()?.parse()?, fields)?,
            "lead" => options.lead = template(&meta.value()?.parse()?, fields)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(options)
}

/// A text with names of fields in braces.
fn template(given: &LitStr, fields: &[&Field]) -> Result<String> {
    let text = given.value();
    for rest in text.split('{').skip(1) {
        let named = rest.split_once('}').map_or(rest, |(named, _)| named);
        if !fields.iter().any(|f| f.ident.as_ref().is_some_and(|i| i == named)) {
            return Err(error(given, format!("there is no field `{named}`")));
        }
    }
    Ok(text)
}

/// The field that an event is about: the one with `#[about]`, otherwise the first object.
fn find_about<'f>(fields: &[&'f Field]) -> Result<Option<&'f Field>> {
    let is_marked = |field: &&&Field| field.attrs.iter().any(|a| a.path().is_ident("about"));
    let marked: Vec<_> = fields.iter().filter(is_marked).copied().collect();
    if let Some(second) = marked.get(1) {
        return Err(error(second, "an event is about one object: mark one field only"));
    }
    let first_object = || fields.iter().find(|field| is_object(&field.ty)).copied();
    Ok(marked.first().copied().or_else(first_object))
}

/// Whether a type is `Id<...>` or `ObjectId`, as far as its name says.
fn is_object(ty: &Type) -> bool {
    match ty {
        // What a macro of the author's was given.
        Type::Group(group) => is_object(&group.elem),
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "Id" || last.ident == "ObjectId")
        }
        _ => false,
    }
}

/// What players read about a field.
/// `#[field(label = "...", listed_in = bag, marked_in = worn, sets = class)]`.
#[derive(Default)]
pub(crate) struct FieldOptions {
    label: String,
    listed_in: String,
    marked_in: String,
    sets: String,
}

impl FieldOptions {
    pub(crate) fn read(field: &Field) -> Result<Self> {
        let mut options = Self::default();
        let known = "`label = \"...\"`, `listed_in = COMPONENT`, `marked_in = COMPONENT`, \
                     `sets = COMPONENT`";
        read_options(&field.attrs, "field", known, |option, meta| {
            match option {
                "label" => options.label = read_label(meta)?,
                "listed_in" => options.listed_in = names::of_field(&meta.value()?.parse()?),
                "marked_in" => options.marked_in = names::of_field(&meta.value()?.parse()?),
                "sets" => options.sets = names::of_field(&meta.value()?.parse()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

pub(crate) fn field_presentation(ty: &Type, options: &FieldOptions) -> TokenStream {
    let choices = quote_spanned!(ty.span()=> <#ty as ::ambit::__private::MessageField>::choices());
    let FieldOptions { label, listed_in, marked_in, sets } = options;
    quote! {
        ::ambit::__private::FieldPresentation {
            label: #label.into(),
            choices: #choices,
            listed_in: #listed_in.into(),
            marked_in: #marked_in.into(),
            sets: #sets.into(),
        }
    }
}
