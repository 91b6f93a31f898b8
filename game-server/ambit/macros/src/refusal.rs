//! `#[derive(Refusal)]`: why a game refuses commands.

use quote::{format_ident, quote};
use syn::{DeriveInput, Ident, LitStr, Result, Variant};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, given_name, require_at_most, require_distinct, require_no_generics,
    require_unit, variants,
};
use crate::names;

const EXAMPLE: &str = "enum Refused { #[text(\"you are too tired\")] Tired }";
/// `ambit_proto::schema::MAX_REFUSALS`.
const MAX_REFUSALS: usize = 64;
/// `ambit_proto::schema::MAX_TEXT_BYTES`.
const MAX_TEXT_BYTES: usize = 200;

/// What a variant stands for.
enum Reason {
    /// The game's own reason.
    Own { name: String, text: String },
    /// An error code that every room has.
    General(Ident),
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "an enum of refusals")?;
    let item = variants(input, "refusals", EXAMPLE)?;
    require_at_most(MAX_REFUSALS, item.variants.len(), "refusals", &input.ident)?;
    let refusal = &input.ident;
    let reasons = item
        .variants
        .iter()
        .map(|variant| Ok((variant, read(variant)?)))
        .collect::<Result<Vec<_>>>()?;
    let named = reasons.iter().filter_map(|(variant, reason)| match reason {
        Reason::Own { name, .. } => Some((name, variant.ident.span())),
        Reason::General(_) => None,
    });
    require_distinct("refusals", "give one another name with `#[refusal(name = \"...\")]`", named)?;
    let mut declarations = Vec::new();
    let mut arms = Vec::new();
    for (variant, reason) in reasons {
        let ident = &variant.ident;
        arms.push(match reason {
            Reason::Own { name, text } => {
                let index = declarations.len() as u8;
                declarations.push(quote! {(
                    ::ambit::__private::RefusalKind { name: #name.into() },
                    ::ambit::__private::RefusalPresentation { text: #text.into() },
                )});
                quote!(Self::#ident => ::ambit::__private::Refused::Game(#index))
            }
            Reason::General(code) => quote! {
                Self::#ident => ::ambit::__private::Refused::Code(::ambit::ErrorCode::#code)
            },
        });
    }
    // A match on a reference is exhaustive only if there is an arm.
    let body =
        if arms.is_empty() { quote!(match *self {}) } else { quote!(match self { #(#arms),* }) };
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Refusal for #refusal {
            fn declarations() -> ::std::vec::Vec<::ambit::__private::RefusalDeclaration> {
                ::std::vec![#(#declarations),*]
            }

            fn reason(&self) -> ::ambit::__private::Refused {
                #body
            }
        }
    })
}

fn read(variant: &Variant) -> Result<Reason> {
    require_unit(variant, "a refusal")?;
    let (mut text, mut code): (Option<LitStr>, Option<Ident>) = (None, None);
    for attribute in &variant.attrs {
        if attribute.path().is_ident("text") {
            text = Some(attribute.parse_args()?);
        } else if attribute.path().is_ident("code") {
            code = Some(attribute.parse_args()?);
        }
    }
    if let Some(code) = code {
        let pascal_case = code.to_string().starts_with(char::is_uppercase);
        if !pascal_case {
            let message = "name the code as in Rust: `#[code(BadPosition)]`";
            return Err(error(&code, message));
        }
        return Ok(Reason::General(format_ident!("{code}", span = code.span())));
    }
    let Some(text) = text else {
        let message = format!(
            "say to the player why: `#[text(\"...\")]` above `{}`, as in `{EXAMPLE}`",
            variant.ident
        );
        return Err(error(variant, message));
    };
    let value = text.value();
    if value.is_empty() || value.len() > MAX_TEXT_BYTES || value.chars().any(char::is_control) {
        let message = format!("a text for players is one line of 1 to {MAX_TEXT_BYTES} bytes");
        return Err(error(&text, message));
    }
    let given = given_name(&variant.attrs, "refusal")?;
    let name = checked_name(given, names::snake_case(&variant.ident), variant.ident.span())?;
    Ok(Reason::Own { name, text: value })
}
