//! `Serialize` and `Deserialize` of serde for crates that depend on `ambit` only.
//!
//! The derives of serde name the crate `serde`, unless an attribute of the item names another path;
//! a derive macro cannot add an attribute to its item. So these macros derive for a private copy of
//! the item that stands for it (serde's `remote`), and delegate to it. Attributes of serde on the
//! item, its fields and its variants work as usual, as far as the format of what is saved has them.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Field, Variant, Visibility};

use crate::Expansion;
use crate::attributes::error;

pub(crate) fn expand_serialize(input: &DeriveInput) -> Expansion {
    let (name, copy) = copy_of(input, &quote!(Serialize))?;
    let item = &input.ident;
    Ok(quote! {
        const _: () = {
            #copy

            #[automatically_derived]
            impl ::ambit::__private::serde::Serialize for #item {
                fn serialize<S: ::ambit::__private::serde::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    #name::serialize(self, serializer)
                }
            }
        };
    })
}

pub(crate) fn expand_deserialize(input: &DeriveInput) -> Expansion {
    let (name, copy) = copy_of(input, &quote!(Deserialize))?;
    let item = &input.ident;
    Ok(quote! {
        const _: () = {
            #copy

            #[automatically_derived]
            impl<'de> ::ambit::__private::serde::Deserialize<'de> for #item {
                fn deserialize<D: ::ambit::__private::serde::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    #name::deserialize(deserializer)
                }
            }
        };
    })
}

fn copy_of(
    input: &DeriveInput,
    macro_name: &TokenStream,
) -> syn::Result<(syn::Ident, TokenStream)> {
    if !input.generics.params.is_empty() {
        let message = "a generic type needs the crate serde: add it to `Cargo.toml` and derive \
                       `serde::Serialize` and `serde::Deserialize`";
        return Err(error(&input.generics, message));
    }
    let mut copy = input.clone();
    copy.ident = format_ident!("__Copy");
    copy.vis = Visibility::Inherited;
    keep_serde(&mut copy.attrs);
    match &mut copy.data {
        Data::Struct(item) => item.fields.iter_mut().for_each(keep_serde_of_field),
        Data::Enum(item) => item.variants.iter_mut().for_each(keep_serde_of_variant),
        Data::Union(_) => return Err(error(&input.ident, "a union cannot be saved")),
    }
    let remote = input.ident.to_token_stream().to_string();
    let name = copy.ident.clone();
    let tokens = quote! {
        #[derive(::ambit::__private::serde::#macro_name)]
        #[serde(crate = "::ambit::__private::serde", remote = #remote)]
        #[allow(dead_code, reason = "serde reads it; nothing makes one")]
        #copy
    };
    Ok((name, tokens))
}

fn keep_serde_of_variant(variant: &mut Variant) {
    keep_serde(&mut variant.attrs);
    variant.fields.iter_mut().for_each(keep_serde_of_field);
}

fn keep_serde_of_field(field: &mut Field) {
    keep_serde(&mut field.attrs);
    field.vis = Visibility::Inherited;
}

fn keep_serde(attributes: &mut Vec<Attribute>) {
    attributes
        .retain(|attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("cfg"));
}
