//! `#[derive(Declare)]`: what a game consists of.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Path, Result, Token, Type, parenthesized};

use crate::Expansion;
use crate::attributes::{require_at_most, require_no_generics, unknown_option};

/// `ambit_proto::schema::MAX_KINDS` and `MAX_EVENTS`.
const MAX_LISTED: usize = 64;

#[derive(Default)]
struct Declaration {
    kinds: Vec<Path>,
    events: Vec<Path>,
    timer: Option<Type>,
    is_unsaved: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a game")?;
    let mut declaration = Declaration::default();
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("declare")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("kinds") {
                declaration.kinds.extend(list(meta.input)?);
            } else if meta.path.is_ident("events") {
                declaration.events.extend(list(meta.input)?);
            } else if meta.path.is_ident("timer") {
                declaration.timer = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("unsaved") {
                declaration.is_unsaved = true;
            } else {
                return Err(unknown_option(
                    &meta,
                    "`kinds(Walker, ...)`, `events(Damage, ...)`, `timer = Timer`, `unsaved`",
                ));
            }
            Ok(())
        })?;
    }
    require_at_most(MAX_LISTED, declaration.kinds.len(), "kinds", &input.ident)?;
    require_at_most(MAX_LISTED, declaration.events.len(), "events", &input.ident)?;
    Ok(declaration.generate(input))
}

fn list(input: ParseStream<'_>) -> Result<Punctuated<Path, Token![,]>> {
    let content;
    parenthesized!(content in input);
    content.parse_terminated(Path::parse_mod_style, Token![,])
}

impl Declaration {
    fn generate(&self, input: &DeriveInput) -> TokenStream {
        let game = &input.ident;
        let timer = self
            .timer
            .as_ref()
            .map_or_else(|| quote!(::ambit::NoTimer), |timer| quote!(#timer));
        let kinds = &self.kinds;
        let events = &self.events;
        let kind_declarations = kinds
            .iter()
            .map(|kind| quote_spanned!(kind.span()=> <#kind as ::ambit::KindOf<Self>>::declared()));
        let event_declarations = events.iter().map(
            |event| quote_spanned!(event.span()=> <#event as ::ambit::EventOf<Self>>::declared()),
        );
        let kind_indices = kinds.iter().zip(0_u8..).map(|(kind, index)| {
            quote_spanned! {kind.span()=>
                #[automatically_derived]
                impl ::ambit::KindOf<#game> for #kind {
                    const INDEX: u8 = #index;
                }
            }
        });
        let event_indices = events.iter().zip(0_u8..).map(|(event, index)| {
            quote_spanned! {event.span()=>
                #[automatically_derived]
                impl ::ambit::EventOf<#game> for #event {
                    const INDEX: u8 = #index;
                }
            }
        });
        let (save, restore) = if self.is_unsaved {
            (
                quote!(::core::option::Option::None),
                quote! {{
                    let _ = saved;
                    ::core::result::Result::Err(::ambit::saved::BadState::Unsupported)
                }},
            )
        } else {
            let span = game.span();
            (
                quote_spanned!(span=>
                    ::core::option::Option::Some(::ambit::__private::SavedGame::to_bytes(self))
                ),
                quote_spanned!(span=> {
                    *self = <Self as ::ambit::__private::SavedGame>::from_bytes(saved)?;
                    ::core::result::Result::Ok(())
                }),
            )
        };
        quote! {
            #[automatically_derived]
            impl ::ambit::Declare for #game {
                type Timer = #timer;

                fn kinds() -> ::std::vec::Vec<::ambit::__private::ObjectKind> {
                    ::std::vec![#(#kind_declarations),*]
                }

                fn events() -> ::std::vec::Vec<::ambit::__private::EventKind> {
                    ::std::vec![#(#event_declarations),*]
                }

                fn save_fields(&self) -> ::core::option::Option<::std::vec::Vec<u8>> {
                    #save
                }

                fn restore_fields(
                    &mut self,
                    saved: &[u8],
                ) -> ::core::result::Result<(), ::ambit::saved::BadState> #restore
            }

            #(#kind_indices)*
            #(#event_indices)*
        }
    }
}
