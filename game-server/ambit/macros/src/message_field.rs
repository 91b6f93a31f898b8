//! Fields of events, commands and entries of lists: how they are declared and read.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Field, Type};

use crate::names;

/// `ambit_proto::schema::MAX_FIELDS`.
pub(crate) const MAX_FIELDS: usize = 8;

/// What a struct of named fields is made of: in the order of its fields.
pub(crate) struct FieldCode {
    /// The declarations.
    pub(crate) specs: Vec<TokenStream>,
    /// The values of `self`.
    pub(crate) values: Vec<TokenStream>,
    /// The members of a `Self` that is read from `fields`, with `?`.
    pub(crate) readings: Vec<TokenStream>,
}

impl FieldCode {
    pub(crate) fn of(fields: &[&Field]) -> Self {
        let spec = |field: &&Field| {
            let ident = field.ident.as_ref().expect("the fields have names");
            field_spec(&field.ty, &names::of_field(ident))
        };
        // Of this macro, also where a type comes from another one.
        let this = quote!(self);
        let value = |field: &&Field| {
            let (ident, ty) = (&field.ident, &field.ty);
            quote_spanned!(ty.span()=>
                <#ty as ::ambit::__private::MessageField>::into_value(#this.#ident)
            )
        };
        let given = quote!(fields);
        let reading = |field: &&Field| {
            let ident = &field.ident;
            let value = field_reading(&field.ty, &given);
            quote!(#ident: #value.ok()?)
        };
        Self {
            specs: fields.iter().map(spec).collect(),
            values: fields.iter().map(value).collect(),
            readings: fields.iter().map(reading).collect(),
        }
    }
}

/// The result of reading the next of the fields `given`.
pub(crate) fn field_reading(ty: &Type, given: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=>
        #given.take().and_then(|value| {
            <#ty as ::ambit::__private::MessageField>::from_value(value, #given.objects())
        })
    )
}

/// The declaration of a field. The type is mentioned in the same form everywhere, so that the
/// compiler reports a bad one once.
pub(crate) fn field_spec(ty: &Type, name: &str) -> TokenStream {
    let field_type =
        quote_spanned!(ty.span()=> <#ty as ::ambit::__private::MessageField>::field_type());
    let optional = quote_spanned!(ty.span()=> <#ty as ::ambit::__private::MessageField>::OPTIONAL);
    quote! {
        ::ambit::__private::FieldSpec {
            name: #name.into(),
            ty: #field_type,
            optional: #optional,
        }
    }
}
