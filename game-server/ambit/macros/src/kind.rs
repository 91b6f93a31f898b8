//! `#[derive(Kind)]`: the declaration of a kind, and its companions for reading and editing.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Expr, Field, Ident, LitStr, Result, Type};

use crate::Expansion;
use crate::attributes::{
    checked_name, documentation, error, named_fields, qualified, read_label, read_option,
    read_options, require_at_most, require_no_generics, unknown_option,
};
use crate::signs::{FIGURES, option_of, read_sign, read_variant, read_word, some};
use crate::{effect, names, stub, with_rules};

const EXAMPLE: &str = "struct Walker { path: Path, name: Text<24> }";
/// The options of a component.
const KNOWN: &str = "`name = \"...\"`, `label = \"...\"`, `unit = \"...\"`, `sign = hide`, \
                     `role = winner`, `words(\"...\", ...)`, `words = CHOICE`";
/// `ambit_proto::schema::MAX_COMPONENTS`.
const MAX_COMPONENTS: usize = 16;
const NOT_SHOWN: &str = "no client gets this component: players are shown nothing of it";

/// A component, as its field declares it.
struct ComponentField<'i> {
    ident: &'i Ident,
    ty: &'i Type,
    attributes: &'i [Attribute],
    name: String,
    label: String,
    unit: String,
    /// An `Option` of what a flag means.
    sign: TokenStream,
    audience: TokenStream,
    /// Whether all clients that have the object know it.
    is_public: bool,
    /// Whether no client gets it.
    is_of_server: bool,
    /// Whether it says where the object is.
    is_place: bool,
    /// The trait that its type implements: `Place` for the first one, `Attribute` for all others.
    role: TokenStream,
    codec: TokenStream,
    /// What a text may say, as far as that decides which commands are offered.
    /// An expression: what the text may be.
    words: TokenStream,
    text_role: TokenStream,
    /// An `Option` of what is shown of it.
    effect: TokenStream,
}

#[derive(Default)]
struct KindOptions {
    name: Option<LitStr>,
    label: String,
    is_room_wide: bool,
    is_world_wide: bool,
    is_simulated: bool,
    is_steered: bool,
    is_projectile: bool,
    interest: Option<TokenStream>,
    freshness: Vec<(Ident, Expr)>,
    /// The fields of the dead reckoning, if it is declared.
    reckoning: Option<Vec<TokenStream>>,
    look: Vec<(Ident, TokenStream)>,
    variants: Vec<TokenStream>,
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a kind of object")?;
    let fields = named_fields(input, "a kind of object", EXAMPLE)?;
    if fields.is_empty() {
        let message = format!(
            "a kind of object needs a first component that says where its objects are: \
             `{EXAMPLE}`"
        );
        return Err(error(&input.ident, message));
    }
    require_at_most(MAX_COMPONENTS, fields.len(), "components", &input.ident)?;
    let mut options = KindOptions::default();
    for attribute in &input.attrs {
        options.read_kind(attribute)?;
    }
    let mut components = fields
        .into_iter()
        .enumerate()
        .map(|(index, field)| ComponentField::read(index, field, options.is_room_wide))
        .collect::<Result<Vec<_>>>()?;
    // As the schema wants them: so clients number all others alike, and learn of none of these.
    components.sort_by_key(|component| component.is_of_server);
    if components[0].is_of_server {
        let message = "no client gets anything of this kind: keep it in the game's own struct, or \
                       give it a component that clients get";
        return Err(error(&input.ident, message));
    }
    for attribute in &input.attrs {
        options.read(attribute, &components)?;
    }
    let default_name = names::snake_case(&input.ident);
    let name = checked_name(options.name.take(), default_name, input.ident.span())?;
    let effect = effect::read(&input.attrs, &[])?;
    let declaration = declaration(input, &name, &options, &components, &effect);
    let nothing = TokenStream::new();
    let steered = options
        .is_steered
        .then(|| stub::implementation(input, &quote!(::ambit::steering::SteeredKind), &nothing));
    let companions = companions(input, &components);
    Ok(quote!(#declaration #steered #companions))
}

/// The companions as far as the fields are known, and an implementation of `Kind`: after an error,
/// so that the uses of the kind cause no further ones. Nothing for a generic struct: each use of it
/// is a mistake of its own.
pub(crate) fn stub(input: &DeriveInput) -> TokenStream {
    if !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let fields = match &input.data {
        Data::Struct(item) => item.fields.iter().filter(|field| field.ident.is_some()),
        _ => return stub_of(input, &[]),
    };
    let mut options = KindOptions::default();
    for attribute in &input.attrs {
        // A mistake in it has been reported.
        let _ = options.read_kind(attribute);
    }
    let components: Vec<_> = fields
        .enumerate()
        .map(|(index, field)| {
            ComponentField::without_attributes(index, field, options.is_room_wide)
        })
        .collect();
    stub_of(input, &components)
}

fn stub_of(input: &DeriveInput, components: &[ComponentField<'_>]) -> TokenStream {
    let reader = reader_name(input);
    let editor = editor_name(input);
    let view = view_name(input);
    let typed = quote! {
        const NAME: &'static str = "";
        type Reading<'f> = #view<'f>;

        fn declaration() -> ::ambit::__private::KindDeclaration;

        fn view<'f>(
            _: &impl ::ambit::message::ShownComponents<'f>,
        ) -> ::core::option::Option<#view<'f>>;
    };
    let items = quote! {
        type Ref<'w> = #reader<'w>;
        type Mut<'w> = #editor<'w>;

        fn into_components(
            self,
            _: &::ambit::__private::Spawn<'_>,
        ) -> ::std::vec::Vec<::ambit::__private::Component>;

        fn reader<'w>(_: ::ambit::__private::ObjectRef<'w>) -> #reader<'w>;

        fn editor<'w>(_: ::ambit::__private::ObjectMut<'w>) -> #editor<'w>;
    };
    let typed = stub::implementation(input, &quote!(::ambit::message::TypedKind), &typed);
    let kind = with_rules(stub::implementation(input, &quote!(::ambit::Kind), &items));
    let nothing = TokenStream::new();
    let placed = stub::implementation(input, &quote!(::ambit::Placed), &nothing);
    let room_wide = stub::implementation(input, &quote!(::ambit::RoomWide), &nothing);
    let steered = stub::implementation(input, &quote!(::ambit::steering::SteeredKind), &nothing);
    let companions = companions(input, components);
    quote!(#typed #kind #placed #room_wide #steered #companions)
}

impl<'i> ComponentField<'i> {
    fn without_attributes(index: usize, field: &'i Field, is_room_wide: bool) -> Self {
        let ident = field.ident.as_ref().expect("the fields have names");
        let is_place = index == 0 && !is_room_wide;
        let role = if is_place {
            quote!(::ambit::__private::Place)
        } else {
            quote!(::ambit::__private::Attribute)
        };
        let codec = qualified(&field.ty, &role, &quote!(codec()));
        Self {
            ident,
            ty: &field.ty,
            attributes: &field.attrs,
            name: names::of_field(ident),
            label: String::new(),
            unit: String::new(),
            sign: quote!(::core::option::Option::None),
            audience: quote!(Public),
            is_public: true,
            is_of_server: false,
            is_place,
            role,
            codec,
            words: quote!(::std::vec::Vec::new()),
            text_role: quote!(::core::option::Option::None),
            effect: quote!(::core::option::Option::None),
        }
    }

    /// Whether a client's view of the kind has it.
    fn is_viewed(&self) -> bool {
        !self.is_place && !self.is_of_server
    }

    /// Its declaration.
    fn spec(&self) -> TokenStream {
        let Self { name, audience, codec, .. } = self;
        quote! {
            ::ambit::__private::ComponentSpec {
                name: #name.into(),
                codec: #codec,
                audience: ::ambit::__private::ComponentAudience::#audience,
            }
        }
    }

    /// What players read about it.
    fn presentation(&self) -> TokenStream {
        let Self { label, unit, sign, words, text_role, effect, .. } = self;
        quote! {
            ::ambit::__private::ComponentPresentation {
                label: #label.into(),
                unit: #unit.into(),
                sign: #sign,
                role: #text_role,
                words: #words,
                effect: #effect,
            }
        }
    }

    fn read(index: usize, field: &'i Field, is_room_wide: bool) -> Result<Self> {
        let mut component = Self::without_attributes(index, field, is_room_wide);
        let ty = component.ty;
        for attribute in field.attrs.iter().filter(|a| a.path().is_ident("audience")) {
            if component.is_place {
                return Err(error(
                    attribute,
                    "the first component is public: each client that follows an object knows \
                     where it is. `World::hide` and `Game::sees` hide whole objects",
                ));
            }
            let audience = read_audience(attribute)?;
            component.is_public = audience == "Public";
            component.is_of_server = audience == "Server";
            component.audience = quote!(#audience);
        }
        let is_of_server = component.is_of_server;
        let mut name = None;
        read_options(&field.attrs, "component", KNOWN, |option, meta| {
            match option {
                _ if is_of_server && option != "name" => return Err(meta.error(NOT_SHOWN)),
                "name" => name = Some(meta.value()?.parse()?),
                "label" => component.label = read_label(meta)?,
                "unit" => component.unit = read_label(meta)?,
                "sign" => component.sign = some(&read_sign(meta)?),
                "role" => {
                    const ROLES: [&str; 3] = ["player", "winner", "reason"];
                    let role = meta.value()?.parse()?;
                    component.text_role = some(&read_word(&role, "TextRole", &ROLES)?);
                }
                "words" => component.words = read_words(meta)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        read_options(&field.attrs, "pose", "`format = EXPRESSION`", |option, meta| {
            if option != "format" {
                return Ok(false);
            }
            let format: Expr = meta.value()?.parse()?;
            component.codec = quote!({
                const _: () = ::core::assert!(
                    <#ty as ::ambit::__private::Posed>::HAS_VELOCITIES
                        || ::core::option::Option::is_none(&(#format).motion),
                    "a `YawPose` has a speed along its heading and no other velocity: \
                     use a `FreePose` for what drifts"
                );
                <#ty as ::ambit::__private::Posed>::codec_of(#format)
            });
            Ok(true)
        })?;
        component.name = checked_name(name, component.name, component.ident.span())?;
        component.effect = effect::read(&field.attrs, &[])?;
        let shown = field.attrs.iter().find(|a| a.path().is_ident("effect"));
        if let Some(shown) = shown.filter(|_| is_of_server) {
            return Err(error(shown, NOT_SHOWN));
        }
        Ok(component)
    }
}

/// `words("open", "closed")`, or `words = CHOICE` with the labels and outcomes of a choice.
fn read_words(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    if meta.input.peek(syn::Token![=]) {
        let choice: Type = meta.value()?.parse()?;
        return Ok(quote_spanned!(choice.span()=> ::ambit::__private::words_of::<#choice>()));
    }
    let content;
    syn::parenthesized!(content in meta.input);
    let words = content.parse_terminated(<LitStr as syn::parse::Parse>::parse, syn::Token![,])?;
    let words = words.iter();
    Ok(quote!(::std::vec![#(::ambit::__private::word(#words)),*]))
}

/// The variant of `ComponentAudience`.
fn read_audience(attribute: &Attribute) -> Result<Ident> {
    let mut audience = None;
    attribute.parse_nested_meta(|meta| {
        let known =
            [("public", "Public"), ("team", "Team"), ("owner", "Owner"), ("server", "Server")];
        let found = known.iter().find(|(name, _)| meta.path.is_ident(name));
        let (_, variant) =
            found.ok_or_else(|| unknown_option(&meta, "`public`, `team`, `owner`, `server`"))?;
        match audience.replace(format_ident!("{variant}")) {
            None => Ok(()),
            Some(_) => Err(meta.error("a component has one audience")),
        }
    })?;
    audience.ok_or_else(|| {
        let message = "say which clients receive it: `#[audience(owner)]`, `team` or `public`; \
                       with `server` none does";
        error(attribute, message)
    })
}

impl KindOptions {
    /// The options that say how the others and the components are meant.
    fn read_kind(&mut self, attribute: &Attribute) -> Result<()> {
        if !attribute.path().is_ident("kind") {
            return Ok(());
        }
        let known = "`name = \"...\"`, `label = \"...\"`, `simulated`, `steered`, `projectile`, \
                     `room_wide`, `world_wide`";
        attribute.parse_nested_meta(|meta| {
            read_option(&meta, known, |option, meta| {
                match option {
                    "name" => self.name = Some(meta.value()?.parse()?),
                    "label" => self.label = read_label(meta)?,
                    "simulated" => self.is_simulated = true,
                    "steered" => self.is_steered = true,
                    "projectile" => self.is_projectile = true,
                    "room_wide" => self.is_room_wide = true,
                    "world_wide" => (self.is_room_wide, self.is_world_wide) = (true, true),
                    _ => return Ok(false),
                }
                Ok(true)
            })
        })?;
        let is_moved = self.is_simulated || self.is_steered || self.is_projectile;
        if is_moved && self.is_room_wide {
            let message = "what is room-wide has no place, so it cannot move";
            return Err(error(attribute, message));
        }
        if self.is_simulated && self.is_steered {
            let message = "`simulated` objects move by the physics of the game, `steered` ones by \
                           `Steer::steer`: a kind is one of both";
            return Err(error(attribute, message));
        }
        Ok(())
    }

    fn read(&mut self, attribute: &Attribute, components: &[ComponentField<'_>]) -> Result<()> {
        let path = attribute.path();
        let is_of_places =
            ["interest", "freshness", "reckoning", "effect"].map(|name| path.is_ident(name));
        if self.is_room_wide && is_of_places.contains(&true) {
            let message = "what is room-wide has no place: every client of the room has it, \
                           wherever its avatar is";
            return Err(error(attribute, message));
        }
        if self.is_room_wide && path.is_ident("look") {
            let message = "what is room-wide has no place where viewers could draw it: they list \
                           it by its components, without a `#[look(...)]`";
            return Err(error(attribute, message));
        }
        if path.is_ident("interest") {
            self.read_interest(attribute)
        } else if path.is_ident("variant") {
            self.variants.push(read_variant(attribute)?);
            Ok(())
        } else if path.is_ident("freshness") {
            attribute.parse_nested_meta(|meta| {
                let known = ["engaged_ms", "near_m", "near_ms", "far_ms"];
                match meta.path.get_ident() {
                    Some(name) if known.iter().any(|known| name == known) => {
                        self.freshness.push((name.clone(), meta.value()?.parse()?));
                        Ok(())
                    }
                    _ => Err(unknown_option(&meta, "`engaged_ms`, `near_m`, `near_ms`, `far_ms`")),
                }
            })
        } else if path.is_ident("reckoning") {
            self.read_reckoning(attribute)
        } else if path.is_ident("look") {
            self.read_look(attribute, components)
        } else {
            Ok(())
        }
    }

    /// An `Option` of its dead reckoning.
    fn reckoning(&self) -> TokenStream {
        option_of(self.reckoning.as_ref().map(|fields| {
            quote!({
                #[allow(unused_mut)]
                let mut reckoning = ::ambit::__private::DeadReckoning::default();
                #(reckoning.#fields;)*
                reckoning
            })
        }))
    }

    fn read_reckoning(&mut self, attribute: &Attribute) -> Result<()> {
        const ORDERS: [&str; 4] = ["first", "second", "automatic", "own"];
        let mut fields = Vec::new();
        let mut curve = None;
        let mut ms = None;
        attribute.parse_nested_meta(|meta| {
            match meta.path.get_ident() {
                Some(name) if name == "order" => {
                    let order: Ident = meta.value()?.parse()?;
                    if !ORDERS.iter().any(|known| order == known) {
                        let known = "`first`, `second`, `automatic`, `own`";
                        return Err(meta.error(format!("unknown order; expected one of {known}")));
                    }
                    if order == "own" && !self.is_steered {
                        let message = "`own` is the function `Steer::reckon`, of a kind with \
                                       `#[kind(steered)]`";
                        return Err(error(&order, message));
                    }
                    let order = capitalised(&order);
                    fields.push(quote!(order = ::ambit::__private::ReckoningOrder::#order));
                }
                Some(name) if name == "tolerance_m" || name == "tolerance_per_m" => {
                    let value: Expr = meta.value()?.parse()?;
                    fields.push(quote!(#name = #value));
                }
                Some(name) if name == "converge" => {
                    let shape: Ident = meta.value()?.parse()?;
                    if shape != "linear" && shape != "cubic" {
                        let known = "unknown curve; expected one of `linear`, `cubic`";
                        return Err(meta.error(known));
                    }
                    curve = Some(shape);
                }
                Some(name) if name == "converge_ms" => ms = Some(meta.value()?.parse::<Expr>()?),
                _ => {
                    let known = "`order`, `tolerance_m`, `tolerance_per_m`, `converge`, \
                                 `converge_ms`";
                    return Err(unknown_option(&meta, known));
                }
            }
            Ok(())
        })?;
        match (curve, ms) {
            (Some(curve), Some(ms)) => {
                let curve = capitalised(&curve);
                fields.push(quote!(convergence = ::ambit::__private::Convergence::#curve(#ms)));
            }
            (None, None) => {}
            _ => {
                let message = "give both: `converge = cubic, converge_ms = 200`";
                return Err(error(attribute, message));
            }
        }
        self.reckoning.get_or_insert_default().extend(fields);
        Ok(())
    }

    fn read_interest(&mut self, attribute: &Attribute) -> Result<()> {
        let (mut inner, mut outer): (Option<Expr>, Option<Expr>) = (None, None);
        attribute.parse_nested_meta(|meta| {
            let radius = match meta.path.get_ident() {
                Some(name) if name == "inner" => &mut inner,
                Some(name) if name == "outer" => &mut outer,
                _ => return Err(unknown_option(&meta, "`inner`, `outer`")),
            };
            *radius = Some(meta.value()?.parse()?);
            Ok(())
        })?;
        let (Some(inner), Some(outer)) = (inner, outer) else {
            let message = "give both radii, in cells: `#[interest(inner = 2, outer = 3)]`";
            return Err(error(attribute, message));
        };
        self.interest = Some(quote! {
            ::ambit::__private::InterestRadii { inner: #inner, outer: #outer }
        });
        Ok(())
    }

    fn read_look(
        &mut self,
        attribute: &Attribute,
        components: &[ComponentField<'_>],
    ) -> Result<()> {
        const KNOWN: &str = "`glyph = '@'`, `shape = disc` (or `box`, `arrow`, `point`), \
                             `colour = 0x3080ff`, `material = matte` (or `metal`, `glow`), \
                             `size = 0.8`, `bar = COMPONENT`, `label = COMPONENT`, \
                             `figure = knight`, `by = COMPONENT`";
        attribute.parse_nested_meta(|meta| {
            let known =
                ["glyph", "shape", "colour", "material", "size", "bar", "label", "figure", "by"];
            let option = meta.path.get_ident().cloned();
            let option = option.filter(|name| known.iter().any(|known| name == known));
            let Some(option) = option else {
                return Err(unknown_option(&meta, KNOWN));
            };
            let value = meta.value()?;
            let tokens = match option.to_string().as_str() {
                "shape" => {
                    let shape = value.call(<Ident as syn::ext::IdentExt>::parse_any)?;
                    read_word(&shape, "Shape", &["disc", "box", "arrow", "point"])?
                }
                "material" => read_word(&value.parse()?, "Material", &["matte", "metal", "glow"])?,
                "figure" => some(&read_word(&value.parse()?, "Figure", &FIGURES)?),
                "bar" | "label" | "by" => {
                    let component: Ident = value.parse()?;
                    read_component_option(&option, &component, components)?
                }
                _ => {
                    let value: Expr = value.parse()?;
                    quote!(#value)
                }
            };
            self.look.push((option, tokens));
            Ok(())
        })
    }
}

/// `bar = stamina`: the index of that component.
fn read_component_option(
    option: &Ident,
    component: &Ident,
    components: &[ComponentField<'_>],
) -> Result<TokenStream> {
    let (check, what) = if option == "bar" {
        (quote!(bar), "a gauge, such as `stamina: Gauge<100>`")
    } else if option == "by" {
        (quote!(told_by), "a text, a number or a flag, such as `rank: Number<1, 9>`")
    } else {
        (quote!(label), "a text, such as `name: Text<24>`")
    };
    let Some(index) = components.iter().position(|c| c.ident == component) else {
        let message = format!("there is no component `{component}`; `{option}` names {what}");
        return Err(error(component, message));
    };
    if components[index].is_of_server {
        return Err(error(component, NOT_SHOWN));
    }
    let ty = components[index].ty;
    let number = index as u8;
    Ok(quote_spanned!(component.span()=>
        ::core::option::Option::Some(
            ::ambit::__private::#check::<#ty>(#number)
        )
    ))
}

/// What does not compile if a kind that is moved by poses has a path.
fn pose_check(options: &KindOptions, components: &[ComponentField<'_>]) -> Option<TokenStream> {
    let is_moved = options.is_steered || options.is_simulated;
    let ty = components.first().filter(|_| is_moved)?.ty;
    Some(quote_spanned! { ty.span() =>
        const _: () = {
            const fn has_pose<P: ::ambit::__private::Posed>() {}
            has_pose::<#ty>();
        };
    })
}

/// The implementation of `Kind`, which rooms need alone.
fn in_rooms(
    input: &DeriveInput,
    options: &KindOptions,
    components: &[ComponentField<'_>],
) -> TokenStream {
    let kind = &input.ident;
    let reader = reader_name(input);
    let editor = editor_name(input);
    let initial = components.iter().zip(0_u8..).map(|(component, index)| {
        let ComponentField { ident, ty, role, .. } = component;
        qualified(ty, role, &quote!(initial(self.#ident, spawn, #index)))
    });
    let steering = options.is_steered.then(|| {
        quote_spanned! { kind.span() =>
            const STEER: ::core::option::Option<::ambit::steering::SteerFunctions> =
                ::core::option::Option::Some(::ambit::steering::functions_of::<#kind>());
        }
    });
    let world_wide = options.is_world_wide.then(|| {
        quote!(
            const IS_WORLD_WIDE: bool = true;
        )
    });
    quote! {
        #[automatically_derived]
        impl ::ambit::Kind for #kind {
            type Ref<'w> = #reader<'w>;
            type Mut<'w> = #editor<'w>;
            #world_wide
            #steering

            fn into_components(
                self,
                spawn: &::ambit::__private::Spawn<'_>,
            ) -> ::std::vec::Vec<::ambit::__private::Component> {
                ::std::vec![#(#initial),*]
            }

            fn reader<'w>(object: ::ambit::__private::ObjectRef<'w>) -> #reader<'w> {
                #reader(object)
            }

            fn editor<'w>(object: ::ambit::__private::ObjectMut<'w>) -> #editor<'w> {
                #editor(object)
            }
        }
    }
}

/// The implementations of the kind's traits.
fn declaration(
    input: &DeriveInput,
    name: &str,
    options: &KindOptions,
    components: &[ComponentField<'_>],
    effect: &TokenStream,
) -> TokenStream {
    let kind = &input.ident;
    let specs = components.iter().map(ComponentField::spec);
    let presentations = components.iter().map(ComponentField::presentation);
    let interest = option_of(options.interest.as_ref());
    let presentation = match (options.is_simulated, options.is_steered) {
        (true, _) => quote!(Simulated),
        (_, true) => quote!(Steered),
        _ => quote!(Interpolated),
    };
    let has_pose = pose_check(options, components);
    let reckoning = options.reckoning();
    let label = &options.label;
    let is_projectile = options.is_projectile;
    let freshness = options.freshness.iter().map(|(name, value)| quote!(freshness.#name = #value;));
    let look = options.look.iter().map(|(name, value)| {
        let name = if name == "size" { format_ident!("size_m") } else { name.clone() };
        quote!(look.#name = #value;)
    });
    let variants = &options.variants;
    let view = view_name(input);
    let shown = components.iter().enumerate().filter(|(_, component)| component.is_viewed());
    let shown = shown.map(|(index, component)| {
        let ComponentField { ident, ty, role, name, is_public, .. } = component;
        let read = if *is_public { quote!(shown_to_all) } else { quote!(shown_to_some) };
        let value = qualified(ty, role, &quote!(#read(shown, #index, #name)?));
        let ident = at_type(ident, ty);
        quote!(#ident: #value)
    });
    let marker = if options.is_room_wide { quote!(RoomWide) } else { quote!(Placed) };
    let in_rooms = with_rules(in_rooms(input, options, components));
    quote! {
        #[automatically_derived]
        impl ::ambit::#marker for #kind {}

        #has_pose

        #in_rooms

        #[automatically_derived]
        impl ::ambit::message::TypedKind for #kind {
            const NAME: &'static str = #name;
            type Reading<'f> = #view<'f>;

            fn declaration() -> ::ambit::__private::KindDeclaration {
                #[allow(unused_mut)]
                let mut freshness = ::ambit::__private::Freshness::default();
                #(#freshness)*
                #[allow(unused_mut)]
                let mut look = ::ambit::__private::Look::default();
                #(#look)*
                (
                    ::ambit::__private::ObjectKind {
                        name: #name.into(),
                        components: ::std::vec![#(#specs),*],
                        interest_radii: #interest,
                        freshness,
                        presentation: ::ambit::__private::PosePresentation::#presentation,
                        is_projectile: #is_projectile,
                        reckoning: #reckoning,
                    },
                    ::ambit::__private::KindPresentation {
                        label: #label.into(),
                        look,
                        variants: ::std::vec![#(#variants),*],
                        effect: #effect,
                        components: ::std::vec![#(#presentations),*],
                    },
                )
            }

            fn view<'f>(
                shown: &impl ::ambit::message::ShownComponents<'f>,
            ) -> ::core::option::Option<#view<'f>> {
                ::core::option::Option::Some(#view {
                    #(#shown,)*
                    _frame: ::core::marker::PhantomData,
                })
            }
        }
    }
}

/// `WalkerRef` and `WalkerMut`, with a method for each component, and `WalkerView`, with a field
/// for each that clients get but the first.
fn companions(input: &DeriveInput, components: &[ComponentField<'_>]) -> TokenStream {
    let kind = &input.ident;
    let vis = &input.vis;
    let reader = reader_name(input);
    let editor = editor_name(input);
    let reader_doc = format!("Reads a [`{kind}`]: a method for each component.");
    let editor_doc = format!("Edits a [`{kind}`]: a method for each component.");
    let methods = |is_editor: bool| {
        components.iter().enumerate().map(move |(index, component)| {
            let ComponentField { ident, ty, role, attributes, .. } = component;
            let doc = documentation(attributes, &format!("The component `{ident}`."));
            let index = index as u8;
            let (receiver, result, value) = if is_editor {
                (quote!(&mut self), quote!(Mut<'_>), quote!(editor(self.0.reborrow(), #index)))
            } else {
                (quote!(&self), quote!(Ref<'w>), quote!(reader(self.0, #index)))
            };
            let result = qualified(ty, role, &result);
            let value = qualified(ty, role, &value);
            quote! {
                #doc
                #[allow(dead_code, reason = "a game may use only some components")]
                #vis fn #ident(#receiver) -> #result {
                    #value
                }
            }
        })
    };
    let readers = methods(false);
    let editors = methods(true);
    let view = view_name(input);
    let view_doc = format!("A [`{kind}`] as a client shows it.");
    let shown = components.iter().filter(|component| component.is_viewed()).map(|component| {
        let ComponentField { ident, ty, role, attributes, is_public, .. } = component;
        let doc = documentation(attributes, &format!("The component `{ident}`."));
        let ident = at_type(ident, ty);
        let shown = qualified(ty, role, &quote!(Shown<'f>));
        let shown = if *is_public { shown } else { quote!(::core::option::Option<#shown>) };
        quote!(#doc #vis #ident: #shown)
    });
    // Not derived: of a type that is no component, a derive would complain in its own words.
    let view_text = view.to_string();
    let fields = components.iter().filter(|component| component.is_viewed());
    let (printed, compared): (Vec<_>, Vec<_>) = fields
        .map(|ComponentField { ident, ty, .. }| {
            let name = ident.to_string();
            let ident = at_type(ident, ty);
            let printed = quote_spanned!(ty.span()=> .field(#name, &self.#ident));
            (printed, quote_spanned!(ty.span()=> && self.#ident == other.#ident))
        })
        .unzip();
    let in_rooms = with_rules(quote! {
        #[doc = #reader_doc]
        #[derive(Clone, Copy)]
        #vis struct #reader<'w>(::ambit::__private::ObjectRef<'w>);

        impl<'w> #reader<'w> {
            #(#readers)*
        }

        impl ::ambit::Object for #reader<'_> {
            type Kind = #kind;

            fn object(&self) -> ::ambit::__private::ObjectRef<'_> {
                self.0
            }
        }

        #[doc = #editor_doc]
        #vis struct #editor<'w>(::ambit::__private::ObjectMut<'w>);

        impl #editor<'_> {
            #(#editors)*
        }

        impl ::ambit::Object for #editor<'_> {
            type Kind = #kind;

            fn object(&self) -> ::ambit::__private::ObjectRef<'_> {
                self.0.to_ref()
            }
        }
    });
    quote! {
        #[doc = #view_doc]
        #[derive(Clone, Copy)]
        #[allow(dead_code, reason = "only clients read it, and perhaps only some components")]
        #vis struct #view<'f> {
            #(#shown,)*
            #[doc(hidden)]
            _frame: ::core::marker::PhantomData<&'f ()>,
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #view<'_> {
            fn fmt(&self, to: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                to.debug_struct(#view_text)#(#printed)*.finish()
            }
        }

        #[automatically_derived]
        impl ::core::cmp::PartialEq for #view<'_> {
            fn eq(&self, other: &Self) -> bool {
                let _ = other;
                true #(#compared)*
            }
        }

        #in_rooms
    }
}

/// A field's name with the place of its type: see [`qualified`].
fn at_type(ident: &Ident, ty: &Type) -> Ident {
    Ident::new(&ident.to_string(), ty.span())
}

fn reader_name(input: &DeriveInput) -> Ident {
    format_ident!("{}Ref", input.ident)
}

fn view_name(input: &DeriveInput) -> Ident {
    format_ident!("{}View", input.ident)
}

fn editor_name(input: &DeriveInput) -> Ident {
    format_ident!("{}Mut", input.ident)
}

/// `Second` for `second`.
fn capitalised(name: &Ident) -> Ident {
    let name_text = name.to_string();
    let (first, rest) = name_text.split_at(1);
    Ident::new(&format!("{}{rest}", first.to_ascii_uppercase()), name.span())
}
