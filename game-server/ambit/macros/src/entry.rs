//! `#[derive(Entry)]`: what a list is made of.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use crate::attributes::{error, named_fields, require_at_most, require_no_generics};
use crate::message_field::{FieldCode, MAX_FIELDS};

const EXAMPLE: &str = "struct Slot { item: Listed<Item>, count: Number<1, 99> }";

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields_of(input)?;
    let entry = &input.ident;
    let FieldCode { specs, values, readings } = FieldCode::of(&fields);
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Entry for #entry {
            fn fields() -> ::std::vec::Vec<::ambit::__private::FieldSpec> {
                ::std::vec![#(#specs),*]
            }

            fn into_values(self) -> ::std::vec::Vec<::ambit::__private::Value> {
                ::std::vec![#(#values),*]
            }

            fn from_values(values: &[::ambit::__private::Value]) -> ::core::option::Option<Self> {
                let mut fields = ::ambit::__private::Fields::of_client(values);
                ::core::option::Option::Some(Self { #(#readings),* })
            }
        }
    })
}

fn fields_of(input: &DeriveInput) -> Result<Vec<&syn::Field>> {
    require_no_generics(input, "an entry of a list")?;
    let fields = named_fields(input, "an entry of a list", EXAMPLE)?;
    require_at_most(MAX_FIELDS, fields.len(), "fields", &input.ident)?;
    if fields.is_empty() {
        return Err(error(&input.ident, format!("an entry of a list has fields: `{EXAMPLE}`")));
    }
    Ok(fields)
}
