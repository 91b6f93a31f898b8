//! `#[derive(Declare)]`: what a game consists of.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, LitInt, Path, Result, Token, Type, parenthesized, token};

use crate::attributes::{require_at_most, require_no_generics, unknown_option};
use crate::{Expansion, stub};

/// `ambit_proto::schema::MAX_KINDS` and `MAX_EVENTS`.
const MAX_LISTED: usize = 64;

#[derive(Default)]
struct Declaration {
    kinds: Vec<Path>,
    events: Vec<Path>,
    sounds: Vec<Path>,
    timer: Option<Type>,
    controls: Option<Type>,
    parameters: Option<Type>,
    profile: Option<Type>,
    seat: Option<Type>,
    version: Option<LitInt>,
    is_unsaved: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a game")?;
    let (declaration, mistake) = Declaration::read(input);
    if let Some(mistake) = mistake {
        return Err(mistake);
    }
    require_at_most(MAX_LISTED, declaration.kinds.len(), "kinds", &input.ident)?;
    let events = declaration.events.len() + declaration.sounds.len(); // Sounds are events as well.
    require_at_most(MAX_LISTED, events, "events", &input.ident)?;
    Ok(declaration.generate(input))
}

/// What was declared in spite of a mistake.
pub(crate) fn stub(input: &DeriveInput) -> TokenStream {
    Declaration::read(input).0.generate_stub(input)
}

fn list(input: ParseStream<'_>) -> Result<Punctuated<Path, Token![,]>> {
    let content;
    parenthesized!(content in input);
    content.parse_terminated(Path::parse_mod_style, Token![,])
}

impl Declaration {
    /// Reads the attributes, and goes on after a mistake.
    fn read(input: &DeriveInput) -> (Self, Option<syn::Error>) {
        let mut declaration = Self::default();
        let mut mistakes = None::<syn::Error>;
        let mut report = |mistake: syn::Error| match &mut mistakes {
            Some(mistakes) => mistakes.combine(mistake),
            None => mistakes = Some(mistake),
        };
        for attribute in input.attrs.iter().filter(|a| a.path().is_ident("declare")) {
            let read = attribute.parse_nested_meta(|meta| {
                declaration
                    .read_option(&meta)
                    .map(|mistake| mistake.into_iter().for_each(&mut report))
            });
            if let Err(mistake) = read {
                report(mistake);
            }
        }
        (declaration, mistakes)
    }

    /// Returns a mistake that leaves the rest of the attribute readable. What a misspelt option
    /// lists counts as declared, so that its uses cause no further errors.
    fn read_option(&mut self, meta: &ParseNestedMeta<'_>) -> Result<Option<syn::Error>> {
        const KNOWN: &str = "`kinds(Walker, ...)`, `events(Damage, ...)`, `sounds(Bang, ...)`, \
             `timer = Timer`, `controls = Key`, `parameters = Settings`, `profile = Profile`, \
             `seat = Seat`, `version = 1`, `unsaved`";
        let is = |names: &[&str]| names.iter().any(|name| meta.path.is_ident(name));
        let known = [
            "kinds",
            "events",
            "sounds",
            "timer",
            "controls",
            "parameters",
            "profile",
            "seat",
            "version",
            "unsaved",
        ];
        let mistake = !is(&known);
        let mistake = mistake.then(|| unknown_option(meta, KNOWN));
        if is(&["kinds", "kind"]) {
            self.kinds.extend(list(meta.input)?);
        } else if is(&["events", "event"]) {
            self.events.extend(list(meta.input)?);
        } else if is(&["sounds", "sound"]) {
            self.sounds.extend(list(meta.input)?);
        } else if is(&["timer", "timers"]) {
            self.timer = Some(meta.value()?.parse()?);
        } else if is(&["controls", "control"]) {
            self.controls = Some(meta.value()?.parse()?);
        } else if is(&["parameters", "parameter"]) {
            self.parameters = Some(meta.value()?.parse()?);
        } else if is(&["profile", "profiles"]) {
            self.profile = Some(meta.value()?.parse()?);
        } else if is(&["seat", "seats"]) {
            self.seat = Some(meta.value()?.parse()?);
        } else if is(&["version"]) {
            let version: LitInt = meta.value()?.parse()?;
            version.base10_parse::<u32>()?;
            self.version = Some(version);
        } else if is(&["unsaved"]) {
            self.is_unsaved = true;
        } else if meta.input.peek(token::Paren) {
            list(meta.input)?;
        } else if meta.input.peek(Token![=]) {
            meta.value()?.parse::<Type>()?;
        }
        Ok(mistake)
    }

    fn generate(&self, input: &DeriveInput) -> TokenStream {
        let game = &input.ident;
        let (timer, has_timers) = (self.timer_type(), self.timer.is_some());
        let controls = self.controls_type();
        let settings = self.parameters_type();
        let (profile, has_profiles) = (self.profile_type(), self.profile.is_some());
        let seat = self.seat_type();
        // Functions of their own: a method of `KindOf` would report a type without `Kind` again.
        let kind_declarations = self.kinds.iter().map(
            |kind| quote_spanned!(kind.span()=> ::ambit::__private::declared_kind::<Self, #kind>()),
        );
        let event_declarations = self.events.iter().map(|event| {
            quote_spanned!(event.span()=> ::ambit::__private::declared_event::<Self, #event>())
        });
        let sound_declarations = self.sounds.iter().map(|sound| {
            quote_spanned!(sound.span()=> ::ambit::__private::declared_sound::<Self, #sound>())
        });
        let members = self.members(input);
        let version = self.version.as_ref().map_or_else(|| quote!(0), ToTokens::to_token_stream);
        let (save, read) = if self.is_unsaved {
            (
                quote!(::core::option::Option::None),
                quote! {{
                    let _ = saved;
                    ::core::result::Result::Err(::ambit::saved::BadState::Unsupported)
                }},
            )
        } else {
            // `self` is that of this macro, also where the game's name comes from another one.
            let span = game.span().resolved_at(Span::call_site());
            (
                quote_spanned!(span=>
                    ::core::option::Option::Some(::ambit::__private::SavedGame::to_bytes(self))
                ),
                quote_spanned!(span=> {
                    <Self as ::ambit::__private::SavedGame>::from_bytes(saved)
                }),
            )
        };
        quote! {
            #[automatically_derived]
            impl ::ambit::Declare for #game {
                type Timer = #timer;
                type Controls = #controls;
                type Parameters = #settings;
                type Profile = #profile;
                type Seat = #seat;
                const HAS_TIMERS: bool = #has_timers;
                const HAS_PROFILES: bool = #has_profiles;
                const VERSION: &'static str =
                    match ::core::option_env!("CARGO_PKG_VERSION") {
                        ::core::option::Option::Some(version) => version,
                        ::core::option::Option::None => "",
                    };
                const SAVED_VERSION: u32 = #version;

                fn kinds() -> ::std::vec::Vec<::ambit::__private::DeclaredKind> {
                    ::std::vec![#(#kind_declarations),*]
                }

                fn events() -> ::std::vec::Vec<::ambit::__private::EventDeclaration> {
                    ::std::vec![#(#event_declarations,)* #(#sound_declarations),*]
                }

                fn save_fields(&self) -> ::core::option::Option<::std::vec::Vec<u8>> {
                    #save
                }

                fn read_fields(
                    saved: &[u8],
                ) -> ::core::result::Result<Self, ::ambit::saved::BadState> #read
            }

            #members
        }
    }

    fn generate_stub(&self, input: &DeriveInput) -> TokenStream {
        let timer = self.timer_type();
        let members = self.members(input);
        let controls = self.controls_type();
        let settings = self.parameters_type();
        let (profile, seat) = (self.profile_type(), self.seat_type());
        let items = quote! {
            type Timer = #timer;
            type Controls = #controls;
            type Parameters = #settings;
            type Profile = #profile;
            type Seat = #seat;
            const HAS_TIMERS: bool = false;
            const HAS_PROFILES: bool = false;
            const VERSION: &'static str = "";
            const SAVED_VERSION: u32 = 0;

            fn kinds() -> ::std::vec::Vec<::ambit::__private::DeclaredKind>;

            fn events() -> ::std::vec::Vec<::ambit::__private::EventDeclaration>;

            fn save_fields(&self) -> ::core::option::Option<::std::vec::Vec<u8>>;

            fn read_fields(
                _: &[u8],
            ) -> ::core::result::Result<Self, ::ambit::saved::BadState>;
        };
        let declare = stub::implementation(input, &quote!(::ambit::Declare), &items);
        quote!(#declare #members)
    }

    fn timer_type(&self) -> TokenStream {
        let declared = self.timer.as_ref().map(ToTokens::to_token_stream);
        declared.unwrap_or_else(|| quote!(::ambit::NoTimer))
    }

    fn controls_type(&self) -> TokenStream {
        let declared = self.controls.as_ref().map(ToTokens::to_token_stream);
        declared.unwrap_or_else(|| quote!(::ambit::NoControls))
    }

    fn parameters_type(&self) -> TokenStream {
        let declared = self.parameters.as_ref().map(ToTokens::to_token_stream);
        declared.unwrap_or_else(|| quote!(::ambit::NoParameters))
    }

    fn profile_type(&self) -> TokenStream {
        self.profile.as_ref().map_or_else(|| quote!(()), ToTokens::to_token_stream)
    }

    fn seat_type(&self) -> TokenStream {
        self.seat.as_ref().map_or_else(|| quote!(()), ToTokens::to_token_stream)
    }

    /// Makes the kinds, events, sounds and timers those of the game. The sounds come after the
    /// events.
    fn members(&self, input: &DeriveInput) -> TokenStream {
        let game = &input.ident;
        let (parameters, arguments, conditions) = input.generics.split_for_impl();
        let kinds = self.kinds.iter().zip(0_u8..).map(|(kind, index)| {
            quote_spanned! {kind.span()=>
                #[automatically_derived]
                impl #parameters ::ambit::KindOf<#game #arguments> for #kind #conditions {
                    const INDEX: u8 = #index;
                }
            }
        });
        let events = self.events.iter().zip(0_u8..).map(|(event, index)| {
            quote_spanned! {event.span()=>
                #[automatically_derived]
                impl #parameters ::ambit::EventOf<#game #arguments> for #event #conditions {
                    const INDEX: u8 = #index;
                }
            }
        });
        let sounds = self.sounds.iter().zip(self.events.len() as u8..).map(|(sound, index)| {
            quote_spanned! {sound.span()=>
                #[automatically_derived]
                impl #parameters ::ambit::SoundOf<#game #arguments> for #sound #conditions {
                    const INDEX: u8 = #index;
                }
            }
        });
        let timer = self.timer.iter().map(|timer| {
            quote_spanned! {timer.span()=>
                #[automatically_derived]
                impl #parameters ::ambit::TimerOf<#game #arguments> for #timer #conditions {
                    fn into_declared(self) -> #timer {
                        self
                    }
                }
            }
        });
        quote!(#(#kinds)* #(#events)* #(#sounds)* #(#timer)*)
    }
}
