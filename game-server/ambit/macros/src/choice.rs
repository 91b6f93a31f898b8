//! `#[derive(Choice)]`: one of some names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DeriveInput, Expr, LitInt, LitStr, Result};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, first_paragraph, read_label, read_options, require_at_most,
    require_distinct, require_no_generics, require_unit, variants,
};
use crate::names;
use crate::signs::{read_element, read_sign, read_word, some};

const EXAMPLE: &str = "enum Spell { Bolt, Heal }";
const KNOWN: &str = "`name = \"...\"`, `label = \"...\"`, `cooldown_ms = ...`, `reach_cm = ...`, \
                     `cost(... = ...)`, `alone`, `sign = fire`, `made_of = fire`, `outcome = won`";
/// `ambit_proto::schema::MAX_CHOICES`.
const MAX_CHOICES: usize = 1_024;

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
            let options = options(&variant.attrs)?;
            let Options { name: given, label, cooldown_ms, alone, reach_cm, cost, .. } = options;
            let Options { sign, made_of, outcome, .. } = options;
            let outcome = outcome.map(|it| some(&it)).map(|it| quote!(outcome: #it,));
            let sign = sign.map(|sign| some(&sign)).map(|sign| quote!(sign: #sign,));
            let made_of = made_of.map(|of| some(&of)).map(|of| quote!(made_of: #of,));
            let default_name = names::kebab_case(&variant.ident);
            let name = checked_name(given, default_name, variant.ident.span())?;
            let help = first_paragraph(&variant.attrs);
            let cost = cost.map(|(of, amount)| {
                quote!(cost: ::core::option::Option::Some(::ambit::__private::Cost {
                    of: #of.into(),
                    amount: #amount,
                }),)
            });
            let about = quote! {
                ::ambit::__private::ChoicePresentation {
                    label: #label.into(),
                    help: #help.into(),
                    cooldown_ms: #cooldown_ms,
                    alone: #alone,
                    reach_cm: #reach_cm,
                    #cost
                    #sign
                    #made_of
                    #outcome
                    ..::core::default::Default::default()
                }
            };
            Ok((name, about))
        })
        .collect::<Result<Vec<_>>>()?;
    let (names, about): (Vec<_>, Vec<_>) = names.into_iter().unzip();
    let named = names.iter().zip(&item.variants);
    let named = named.map(|(name, variant)| (name, variant.ident.span()));
    require_distinct("choices", "give one another name with `#[choice(name = \"...\")]`", named)?;
    let idents: Vec<_> = item.variants.iter().map(|variant| &variant.ident).collect();
    let indices: Vec<_> = (0_u16..).take(idents.len()).collect();
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Choice for #choice {
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn index(&self) -> u16 {
                match self {
                    #(Self::#idents => #indices),*
                }
            }

            fn from_index(index: u16) -> ::core::option::Option<Self> {
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

            fn choices() -> ::std::vec::Vec<::ambit::__private::ChoicePresentation> {
                ::std::vec![#(#about),*]
            }

            fn into_value(self) -> ::ambit::__private::Value {
                ::ambit::__private::Value::Choice(::ambit::Choice::index(&self))
            }

            fn from_value(
                value: &::ambit::__private::Value,
                _: ::ambit::__private::Objects<'_>,
            ) -> ::core::result::Result<Self, ::ambit::ErrorCode> {
                let index = value.as_choice();
                let choice = index.and_then(|index| <Self as ::ambit::Choice>::from_index(*index));
                choice.ok_or(::ambit::ErrorCode::Malformed)
            }
        }
    })
}

/// `#[choice(name = "...", label = "...", cooldown_ms = N, reach_cm = N, cost(mana = N), alone,
/// sign = fire, made_of = fire, outcome = won)]`.
#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    label: String,
    cooldown_ms: u32,
    alone: bool,
    reach_cm: u32,
    /// The name of what it costs, and how much.
    cost: Option<(String, Expr)>,
    sign: Option<TokenStream>,
    made_of: Option<TokenStream>,
    outcome: Option<TokenStream>,
}

fn options(attributes: &[Attribute]) -> Result<Options> {
    let mut options = Options::default();
    read_options(attributes, "choice", KNOWN, |option, meta| {
        match option {
            "name" => options.name = Some(meta.value()?.parse()?),
            "label" => options.label = read_label(meta)?,
            "cooldown_ms" => {
                options.cooldown_ms = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            }
            "reach_cm" => options.reach_cm = meta.value()?.parse::<LitInt>()?.base10_parse()?,
            "cost" => {
                meta.parse_nested_meta(|of| {
                    let name = names::of_field(of.path.require_ident()?);
                    let amount = of.value()?.parse()?;
                    match options.cost.replace((name, amount)) {
                        None => Ok(()),
                        Some(_) => Err(of.error("a choice has one cost: `cost(mana = 10)`")),
                    }
                })?;
            }
            "sign" => options.sign = Some(read_sign(meta)?),
            "made_of" => options.made_of = Some(read_element(meta)?),
            "outcome" => {
                const OUTCOMES: [&str; 3] = ["won", "lost", "over"];
                let outcome = read_word(&meta.value()?.parse()?, "Outcome", &OUTCOMES)?;
                options.outcome = Some(outcome);
            }
            "alone" => options.alone = true,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(options)
}
