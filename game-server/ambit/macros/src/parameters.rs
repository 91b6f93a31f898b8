//! `#[derive(Parameters)]`: what a room of the game can be created with.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, DeriveInput, Expr, ExprLit, ExprRange, Field, GenericArgument, Lit, LitStr,
    PathArguments, RangeLimits, Result, Type,
};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, first_paragraph, named_fields, read_label, read_options,
    require_no_generics,
};
use crate::names;

const EXAMPLE: &str = "struct Settings { #[parameter(default = 50, range = 1..=999)] goal: i64 }";
const KNOWN: &str =
    "`default = 50`, `range = 1..=999`, `name = \"...\"`, `label = \"...\"`, `of_room`";
const INTEGERS: [&str; 10] =
    ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// What a parameter's field holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Whole,
    Decimal,
    Size,
    /// An enum with `#[derive(Choice)]`.
    Word,
    /// A `String`: the default, or one of the words that the game adds when the program starts.
    Name,
}

/// Whether the field tells more than a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    Plain,
    /// `Option`: `None` unless it is given.
    IfGiven,
    /// `Given`: the value, and whether it is given.
    Given,
}

#[derive(Default)]
struct Options {
    name: Option<LitStr>,
    label: String,
    default: Option<Expr>,
    range: Option<ExprRange>,
    is_of_room: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "a struct of parameters")?;
    let fields = named_fields(input, "a struct of parameters", EXAMPLE)?;
    let mut room = room_defaults(&input.attrs)?;
    let mut table = Vec::new();
    let mut reading = Vec::new();
    let mut checks = Vec::new();
    for field in fields {
        let parameter = read(field)?;
        if let Some((key, allowed)) = parameter.narrowed {
            let Some(default) = room.iter_mut().find(|default| default.key == key) else {
                let message =
                    format!("give its default as well, above the struct: `#[room({key} = ...)]`");
                return Err(error(field, &message));
            };
            default.allowed = Some(allowed);
        }
        table.extend(parameter.declaration);
        reading.push(parameter.reading);
        checks.push(parameter.check);
    }
    table.splice(0..0, room.iter().map(RoomDefault::declaration));
    let item = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl ::ambit::Parameters for #item {
            const TABLE: &'static [::ambit::__private::Parameter] = &[#(#table),*];

            fn read(
                #[allow(unused_variables)]
                given: &::ambit::__private::CheckedParameters,
            ) -> Self {
                Self { #(#reading),* }
            }
        }

        // Evaluated in `cargo check`, too.
        #[allow(clippy::all, clippy::pedantic)]
        const _: () = {
            let _ = <#item as ::ambit::Parameters>::TABLE;
            #(#checks)*
        };
    })
}

/// What the game changes of a parameter that every room has.
struct RoomDefault {
    key: String,
    default: String,
    /// A smaller range, by `#[parameter(of_room, range = ...)]`.
    allowed: Option<TokenStream>,
    span: Span,
}

impl RoomDefault {
    fn declaration(&self) -> TokenStream {
        let Self { key, default, allowed, span } = self;
        let parameter = quote_spanned! {*span=>
            ::ambit::__private::override_default(#key, #default)
        };
        let Some(allowed) = allowed else { return parameter };
        quote_spanned! {*span=>
            ::ambit::__private::Parameter {
                allowed: ::ambit::__private::Allowed::#allowed,
                ..#parameter
            }
        }
    }
}

/// `#[room(size = "300x300", cell = 40)]`: other defaults of what every room has.
fn room_defaults(attributes: &[Attribute]) -> Result<Vec<RoomDefault>> {
    let mut defaults = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("room")) {
        attribute.parse_nested_meta(|meta| {
            let Some(name) = meta.path.get_ident() else {
                return Err(meta.error("name a parameter of every room: `size = \"300x300\"`"));
            };
            let key = name.to_string();
            let value = meta.value()?.parse::<Expr>()?;
            let default = literal(&value)?;
            let span = name.span();
            defaults.push(RoomDefault { key, default, allowed: None, span });
            Ok(())
        })?;
    }
    Ok(defaults)
}

struct ReadField {
    /// Its line in the table; nothing for a parameter that every room has.
    declaration: Option<TokenStream>,
    /// The key of a parameter that every room has, and the smaller range of this game's.
    narrowed: Option<(String, TokenStream)>,
    reading: TokenStream,
    check: TokenStream,
}

fn read(field: &Field) -> Result<ReadField> {
    let ident = field.ident.as_ref().expect("the fields have names");
    let options = Options::read(&field.attrs)?;
    let key = checked_name(options.name.clone(), names::of_field(ident), ident.span())?;
    let (wrapper, ty) = unwrapped(&field.ty);
    let shape = shape(ty);
    let reading = reading(ident, &key, shape, wrapper, ty);
    if options.is_of_room {
        if options.default.is_some() || !options.label.is_empty() {
            let message = "every room has it: `#[room(size = \"300x300\")]` above the struct \
                           gives another default";
            return Err(error(field, message));
        }
        let kind = shape_name(shape);
        let check = quote_spanned! {ident.span()=>
            ::core::assert!(
                ::ambit::__private::is_of_room(#key, ::ambit::__private::ParameterShape::#kind),
                "no room has a parameter of this name and type"
            );
        };
        let narrowed = match &options.range {
            None => None,
            given => {
                let (min, max) = range(ident, given.as_ref())?;
                Some((key, quote!(#kind { min: #min, max: #max })))
            }
        };
        return Ok(ReadField { declaration: None, narrowed, reading, check });
    }
    let about = first_paragraph(&field.attrs);
    if about.is_empty() {
        let message = "say what it is, its unit, and what raising it costs, in a comment with \
                       `///`: players read it";
        return Err(error(field, message));
    }
    let (allowed, default, check) = declared(ident, shape, wrapper, ty, &options)?;
    let label = &options.label;
    let declaration = quote! {
        ::ambit::__private::Parameter {
            key: #key,
            label: #label,
            default: #default,
            allowed: ::ambit::__private::Allowed::#allowed,
            about: #about,
        }
    };
    Ok(ReadField { declaration: Some(declaration), narrowed: None, reading, check })
}

impl Options {
    fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut options = Self::default();
        read_options(attributes, "parameter", KNOWN, |option, meta| {
            match option {
                "name" => options.name = Some(meta.value()?.parse()?),
                "label" => options.label = read_label(meta)?,
                "default" => options.default = Some(meta.value()?.parse()?),
                "range" => options.range = Some(meta.value()?.parse()?),
                "of_room" => options.is_of_room = true,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

/// The allowed values, the default, and what the compiler checks of both.
fn declared(
    ident: &syn::Ident,
    shape: Shape,
    wrapper: Wrapper,
    ty: &Type,
    options: &Options,
) -> Result<(TokenStream, String, TokenStream)> {
    let default = match (&options.default, wrapper) {
        (Some(default), Wrapper::IfGiven) => {
            let message = "an `Option` is `None` unless it is given, so it has no default; write \
                           `Given<...>` for a value with a default of which the game wants to \
                           know whether it was given";
            return Err(error(default, message));
        }
        (Some(default), _) => Some(default),
        (None, Wrapper::IfGiven) => None,
        (None, _) => {
            let message = format!("`{ident}` needs a default: `#[parameter(default = ...)]`");
            return Err(error(ident, message));
        }
    };
    if shape == Shape::Name {
        let text = default.map(literal).transpose()?.unwrap_or_default();
        let words = default.map(|_| quote!(#text));
        return Ok((quote!(Word(&[#words])), text, quote!()));
    }
    if shape == Shape::Word {
        let no_checks = |text| (quote!(Word(<#ty as ::ambit::Choice>::NAMES)), text, quote!());
        return Ok(match default {
            None => no_checks(String::new()),
            Some(Expr::Path(path)) => {
                let variant = &path.path.segments.last().expect("a path has a segment").ident;
                let (allowed, text, _) = no_checks(names::kebab_case(variant));
                let message = "a choice with another name: write the name, `default = \"...\"`";
                let check = quote! {
                    let _: #ty = <#ty>::#variant;
                    ::core::assert!(
                        ::ambit::__private::is_among(#text, <#ty as ::ambit::Choice>::NAMES),
                        #message
                    );
                };
                (allowed, text, check)
            }
            Some(other) => {
                let (allowed, text, _) = no_checks(literal(other)?);
                let check = quote_spanned! {other.span()=>
                    ::core::assert!(
                        ::ambit::__private::is_among(#text, <#ty as ::ambit::Choice>::NAMES),
                        "the default is none of the choices"
                    );
                };
                (allowed, text, check)
            }
        });
    }
    let (min, max) = range(ident, options.range.as_ref())?;
    let name = shape_name(shape);
    let allowed = quote!(#name { min: #min, max: #max });
    let text = default.map(literal).transpose()?.unwrap_or_default();
    let number = if shape == Shape::Decimal { quote!(f32) } else { quote!(u64) };
    let fits = default.filter(|_| shape != Shape::Size).map(|default| {
        quote_spanned! {default.span()=>
            let (min, default, max): (#number, #number, #number) = (#min, #default, #max);
            ::core::assert!(min <= default && default <= max, "the default is out of the range");
        }
    });
    let holds = (shape == Shape::Whole).then(|| {
        quote_spanned! {ty.span()=>
            let max: u64 = #max;
            ::core::assert!(
                max as u128 <= <#ty>::MAX as u128,
                "the type of the field does not hold the range"
            );
        }
    });
    Ok((allowed, text, quote!(#fits #holds)))
}

fn range<'r>(ident: &syn::Ident, range: Option<&'r ExprRange>) -> Result<(&'r Expr, &'r Expr)> {
    let message = "say which values may be given, both ends included: \
                   `#[parameter(default = 50, range = 1..=999)]`";
    let Some(range) = range else {
        return Err(error(ident, message));
    };
    match (&range.start, range.limits, &range.end) {
        (Some(min), RangeLimits::Closed(_), Some(max)) => Ok((min, max)),
        _ => Err(error(range, message)),
    }
}

/// A literal as players write it: `20_000` is `20000`.
fn literal(value: &Expr) -> Result<String> {
    let Expr::Lit(ExprLit { lit, .. }) = value else {
        return Err(error(value, "write the value itself: a number or a text"));
    };
    match lit {
        Lit::Int(number) => Ok(number.base10_digits().to_owned()),
        Lit::Float(number) => Ok(number.base10_digits().to_owned()),
        Lit::Str(text) => Ok(text.value()),
        other => Err(error(other, "write the value itself: a number or a text")),
    }
}

/// `Option<T>` and `Given<T>`, and what is in them.
fn unwrapped(ty: &Type) -> (Wrapper, &Type) {
    let Type::Path(path) = ty else {
        return (Wrapper::Plain, ty);
    };
    let Some(last) = path.path.segments.last() else {
        return (Wrapper::Plain, ty);
    };
    let wrapper = match last.ident.to_string().as_str() {
        "Option" => Wrapper::IfGiven,
        "Given" => Wrapper::Given,
        _ => return (Wrapper::Plain, ty),
    };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => (wrapper, inner),
            _ => (Wrapper::Plain, ty),
        },
        _ => (Wrapper::Plain, ty),
    }
}

fn shape(ty: &Type) -> Shape {
    match ty {
        // What a macro of the author's was given.
        Type::Group(group) => shape(&group.elem),
        Type::Tuple(_) => Shape::Size,
        Type::Path(path) if path.path.is_ident("f32") => Shape::Decimal,
        Type::Path(path) if path.path.is_ident("String") => Shape::Name,
        Type::Path(path) if INTEGERS.iter().any(|name| path.path.is_ident(name)) => Shape::Whole,
        _ => Shape::Word,
    }
}

fn shape_name(shape: Shape) -> syn::Ident {
    match shape {
        Shape::Whole => format_ident!("Whole"),
        Shape::Decimal => format_ident!("Decimal"),
        Shape::Size => format_ident!("Size"),
        Shape::Word | Shape::Name => format_ident!("Word"),
    }
}

/// `goal: given.whole("goal") as i64`
fn reading(
    ident: &syn::Ident,
    key: &str,
    shape: Shape,
    wrapper: Wrapper,
    ty: &Type,
) -> TokenStream {
    let value = match shape {
        Shape::Whole => quote!(given.whole(#key) as #ty),
        Shape::Decimal => quote!(given.decimal(#key)),
        Shape::Size => quote!(given.size(#key)),
        Shape::Name => quote!(given.word(#key).to_owned()),
        Shape::Word => quote_spanned!(ty.span()=>
            ::ambit::__private::chosen::<#ty>(given.word(#key))
        ),
    };
    match wrapper {
        Wrapper::Plain => quote!(#ident: #value),
        Wrapper::IfGiven => quote!(#ident: given.has_value(#key).then(|| #value)),
        Wrapper::Given => quote! {
            #ident: ::ambit::Given { value: #value, is_given: given.is_given(#key) }
        },
    }
}
