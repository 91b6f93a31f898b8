//! `#[derive(Command)]`: what players can do.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Expr, Fields, FieldsNamed, LitStr, Result, Variant};

use crate::Expansion;
use crate::attributes::{
    checked_name, error, first_paragraph, read_label, read_option, read_options, require_at_most,
    require_distinct, require_no_generics, variants,
};
use crate::event::{FieldOptions, field_presentation};
use crate::message_field::{MAX_FIELDS, field_reading, field_spec};
use crate::signs::{option_of, read_sign};
use crate::{names, with_rules};

const EXAMPLE: &str = "enum Command { WalkTo { to: Position }, Rest }";
const KNOWN: &str = "`newest_only`, `key = \"...\"`, `name = \"...\"`, `label = \"...\"`, \
                     `only_for(...)`, `walk(speed = ..., radius = ...)`, `sign = ready`";
/// `ambit_proto::schema::MAX_COMMANDS`.
const MAX_COMMANDS: usize = 64;

/// A command, as its variant declares it.
struct CommandVariant<'i> {
    variant: &'i Variant,
    fields: Option<&'i FieldsNamed>,
    name: String,
    label: String,
    help: String,
    key: Option<LitStr>,
    newest_only: bool,
    only_for: Option<TokenStream>,
    walk: Option<Walk>,
    sign: Option<TokenStream>,
}

/// `walk(speed = 5.0, radius = 0.4)`, or with `speed_in = "COMPONENT"` for `speed`.
struct Walk {
    speed: TokenStream,
    radius: Expr,
}

pub(crate) fn expand(input: &DeriveInput) -> Expansion {
    require_no_generics(input, "an enum of commands")?;
    let item = variants(input, "commands", EXAMPLE)?;
    require_at_most(MAX_COMMANDS, item.variants.len(), "commands", &input.ident)?;
    let commands = item.variants.iter().map(CommandVariant::read).collect::<Result<Vec<_>>>()?;
    let named = commands.iter().map(|command| (&command.name, command.variant.ident.span()));
    require_distinct("commands", "give one another name with `#[command(name = \"...\")]`", named)?;
    let command = &input.ident;
    let declarations =
        commands.iter().map(CommandVariant::declaration).collect::<Result<Vec<_>>>()?;
    let arms = commands.iter().zip(0_u8..).map(|(variant, kind)| {
        let reading = variant.reading();
        quote!(#kind => ::core::result::Result::Ok(#reading))
    });
    let writing = commands.iter().zip(0_u8..).map(CommandVariant::writing);
    // A match on a value without variants has no arms.
    let into_command = quote!(match self { #(#writing),* });
    let in_rooms = with_rules(quote! {
        #[automatically_derived]
        impl ::ambit::Command for #command {
            fn read(
                kind: u8,
                #[allow(unused_variables, unused_mut)]
                mut fields: ::ambit::__private::Fields<'_>,
            ) -> ::core::result::Result<Self, ::ambit::ErrorCode> {
                match kind {
                    #(#arms,)*
                    _ => ::core::result::Result::Err(::ambit::ErrorCode::UnknownCommand),
                }
            }
        }
    });
    Ok(quote! {
        #in_rooms

        #[automatically_derived]
        impl ::ambit::message::TypedCommand for #command {
            fn declarations() -> ::std::vec::Vec<::ambit::__private::CommandDeclaration> {
                ::std::vec![#(#declarations),*]
            }

            fn into_command(self) -> ::ambit::message::GameCommand {
                #into_command
            }
        }
    })
}

/// `only_for(alive)`: a flag is set; `only_for(phase = "share")`: a text is this.
fn read_condition(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let example =
        "say of what: `only_for(alive)` for a flag, `only_for(phase = \"share\")` for a text";
    if !meta.input.peek(syn::token::Paren) {
        return Err(meta.error(example));
    }
    let mut condition = None;
    meta.parse_nested_meta(|of| {
        let name = names::of_field(of.path.require_ident()?);
        let given = if of.input.peek(syn::Token![=]) {
            let is: LitStr = of.value()?.parse()?;
            quote!(::ambit::__private::Condition::text(#name, #is))
        } else {
            quote!(::ambit::__private::Condition::set(#name))
        };
        match condition.replace(given) {
            None => Ok(()),
            Some(_) => Err(of.error("a command is for one flag or one value of a text")),
        }
    })?;
    condition.ok_or_else(|| meta.error(example))
}

impl<'i> CommandVariant<'i> {
    fn read(variant: &'i Variant) -> Result<Self> {
        let fields = match &variant.fields {
            Fields::Named(fields) => Some(fields),
            Fields::Unit => None,
            Fields::Unnamed(fields) => {
                let message = format!(
                    "the fields of a command need names, for clients see them: \
                     `{} {{ to: Position }}`",
                    variant.ident
                );
                return Err(error(fields, message));
            }
        };
        let count = fields.map_or(0, |fields| fields.named.len());
        require_at_most(MAX_FIELDS, count, "fields", &variant.ident)?;
        let mut command = Self {
            variant,
            fields,
            name: names::kebab_case(&variant.ident),
            label: String::new(),
            help: first_paragraph(&variant.attrs),
            key: None,
            newest_only: false,
            only_for: None,
            walk: None,
            sign: None,
        };
        let mut name = None;
        read_options(&variant.attrs, "command", KNOWN, |option, meta| {
            match option {
                "newest_only" => command.newest_only = true,
                "key" => command.key = Some(meta.value()?.parse()?),
                "name" => name = Some(meta.value()?.parse()?),
                "label" => command.label = read_label(meta)?,
                "only_for" => command.only_for = Some(read_condition(meta)?),
                "sign" => command.sign = Some(read_sign(meta)?),
                "walk" => command.walk = Some(Walk::read(meta)?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        command.name = checked_name(name, command.name, variant.ident.span())?;
        Ok(command)
    }

    fn declaration(&self) -> Result<TokenStream> {
        let Self { name, label, help, newest_only, .. } = self;
        let key = option_of(self.key.as_ref().map(|key| quote!(#key.into())));
        let walk = option_of(self.walk.as_ref().map(|Walk { speed, radius }| {
            quote!(::ambit::__private::WalkSpec { speed: #speed, radius_m: #radius })
        }));
        let only_for = option_of(self.only_for.as_ref());
        let sign = option_of(self.sign.as_ref());
        let specs = self.fields.into_iter().flat_map(|fields| &fields.named);
        let pairs = specs.map(|field| {
            let ident = field.ident.as_ref().expect("a named field");
            let ty = &field.ty;
            let name = names::of_field(ident);
            let options = FieldOptions::read(field)?;
            Ok((field_spec(ty, &name), field_presentation(ty, &options)))
        });
        let (specs, shown): (Vec<_>, Vec<_>) =
            pairs.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        Ok(quote! {(
            ::ambit::__private::CommandKind {
                name: #name.into(),
                newest_only: #newest_only,
                fields: ::std::vec![#(#specs),*],
            },
            ::ambit::__private::CommandPresentation {
                label: #label.into(),
                help: #help.into(),
                key: #key,
                only_for: #only_for,
                walk: #walk,
                sign: #sign,
                fields: ::std::vec![#(#shown),*],
            },
        )})
    }

    /// The expression that makes the variant of a command's fields.
    fn reading(&self) -> TokenStream {
        let variant = &self.variant.ident;
        let Some(fields) = self.fields else {
            return quote!(Self::#variant);
        };
        // Of this macro, also where a type comes from another one.
        let given = quote!(fields);
        let fields = fields.named.iter().map(|field| {
            let ident = &field.ident;
            let ty = &field.ty;
            let value = field_reading(ty, &given);
            quote!(#ident: #value?)
        });
        quote!(Self::#variant { #(#fields),* })
    }

    /// The arm that makes a command of the variant.
    fn writing((command, kind): (&Self, u8)) -> TokenStream {
        let variant = &command.variant.ident;
        let fields = command.fields.into_iter().flat_map(|fields| &fields.named);
        let (names, values): (Vec<_>, Vec<_>) = fields
            .map(|field| {
                let ident = &field.ident;
                let ty = &field.ty;
                let value = quote_spanned!(ty.span()=>
                    <#ty as ::ambit::__private::MessageField>::into_value(#ident)
                );
                (ident, value)
            })
            .unzip();
        quote! {
            Self::#variant { #(#names),* } => ::ambit::message::GameCommand {
                kind: #kind,
                fields: ::std::vec![#(#values),*],
            }
        }
    }
}

impl Walk {
    const KNOWN: &str = "`speed = 5.0`, `speed_in = \"COMPONENT\"`, `radius = 0.4`";

    fn read(meta: &ParseNestedMeta<'_>) -> Result<Self> {
        let mut speed = None;
        let mut radius = None;
        meta.parse_nested_meta(|meta| {
            read_option(&meta, Self::KNOWN, |option, meta| {
                match option {
                    "speed" => {
                        let m_per_s: Expr = meta.value()?.parse()?;
                        speed = Some(quote!(::ambit::__private::WalkSpeed::Constant(#m_per_s)));
                    }
                    "speed_in" => {
                        let component: LitStr = meta.value()?.parse()?;
                        speed = Some(
                            quote!(::ambit::__private::WalkSpeed::Component(#component.into())),
                        );
                    }
                    "radius" => radius = Some(meta.value()?.parse()?),
                    _ => return Ok(false),
                }
                Ok(true)
            })
        })?;
        let (Some(speed), Some(radius)) = (speed, radius) else {
            let message = "a walk has a speed in metres a second and the radius of the body in \
                           metres: `walk(speed = 5.0, radius = 0.4)`, or for the speed in a \
                           `Half` of the avatar `walk(speed_in = \"COMPONENT\", radius = 0.4)`";
            return Err(meta.error(message));
        };
        Ok(Self { speed, radius })
    }
}
