//! `#[derive(Choice)]`: one of some names.

use quote::quote;
use syn::{DeriveInput, Result};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, given_name, require_at_most, require_distinct, require_no_generics,
    require_unit, variants,
};
use crate::names;

const EXAMPLE: &str = "enum Spell { Bolt, Heal }";
/// `ambit_proto::schema::MAX_CHOICES`.
const MAX_CHOICES: usize = 64;

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a choice")?;
    let item = variants(input, "choices", EXAMPLE)?;
    require_at_most(MAX_CHOICES, item.variants.len(), "choices", &input.ident)?;
    if item.variants.is_empty() {
        return Err(error(&input.ident, format!("a choice needs a variant: `{EXAMPLE}`")));
    }
    let choice = &input.ident;
    let names = item
        .variants
        .iter()
        .map(|variant| {
            require_unit(variant, "a choice")?;
            let given = given_name(&variant.attrs, "choice")?;
            checked_name(given, names::kebab_case(&variant.ident), variant.ident.span())
        })
        .collect::<Result<Vec<_>>>()?;
    let named = names.iter().zip(&item.variants);
    let named = named.map(|(name, variant)| (name, variant.ident.span()));
    require_distinct("choices", "give one another name with `#[choice(name = \"...\")]`", named)?;
    let idents: Vec<_> = item.variants.iter().map(|variant| &variant.ident).collect();
    let indices: Vec<_> = (0_u8..).take(idents.len()).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Choice for #choice {
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn index(&self) -> u8 {
                match self {
                    #(Self::#idents => #indices),*
                }
            }

            fn from_index(index: u8) -> ::core::option::Option<Self> {
                match index {
                    #(#indices => ::core::option::Option::Some(Self::#idents),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl ::ambit::__private::MessageField for #choice {
            fn field_type() -> ::ambit::__private::FieldType {
                ::ambit::__private::FieldType::choice(
                    <Self as ::ambit::Choice>::NAMES.iter().copied(),
                )
            }

            fn into_value(self) -> ::ambit::__private::Value {
                ::ambit::__private::Value::Choice(::ambit::Choice::index(&self))
            }

            fn from_value(
                value: &::ambit::__private::Value,
                _: ::ambit::__private::Objects<'_>,
            ) -> ::core::result::Result<Self, ::ambit::ErrorCode> {
                match value {
                    ::ambit::__private::Value::Choice(index) => {
                        <Self as ::ambit::Choice>::from_index(*index)
                            .ok_or(::ambit::ErrorCode::Malformed)
                    }
                    _ => ::core::result::Result::Err(::ambit::ErrorCode::Malformed),
                }
            }
        }
    })
}
