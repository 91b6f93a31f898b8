//! Stubs: what a derive generates beside its error message.
//!
//! Without them the compiler would also report each use of the type ("`Walker` is not a kind of
//! object"), and the author would have to find the one mistake among many errors. No stub is ever
//! executed, since the program does not compile. The stubs of kinds and games are beside their
//! derives: they need what could be read of the item.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser as _};
use syn::{DeriveInput, GenericParam, TraitItem, parse_quote};

use crate::with_rules;

pub(crate) fn of_event(input: &DeriveInput) -> TokenStream {
    let typed = quote! {
        const NAME: &'static str = "";

        fn declaration() -> ::ambit::__private::EventDeclaration;

        fn from_fields(_: &[::ambit::__private::Value]) -> ::core::option::Option<Self>;
    };
    let methods = quote! {
        fn into_fields(self) -> ::std::vec::Vec<::ambit::__private::Value>;
    };
    let about = quote! {
        fn about(&self) -> ::ambit::ObjectId;
    };
    let event = implementation(input, &quote!(::ambit::Event), &methods);
    let about = implementation(input, &quote!(::ambit::AboutObject), &about);
    let typed = implementation(input, &quote!(::ambit::message::TypedEvent), &typed);
    let in_rooms = with_rules(quote!(#event #about));
    quote!(#typed #in_rooms)
}

pub(crate) fn of_sound(input: &DeriveInput) -> TokenStream {
    let methods = quote!(
        fn declaration() -> ::ambit::__private::EventKind;
    );
    let name = quote!(
        const NAME: &'static str = "";
    );
    let typed = implementation(input, &quote!(::ambit::message::TypedSound), &name);
    let sound = implementation(input, &quote!(::ambit::Sound), &methods);
    let sound = with_rules(sound);
    quote!(#typed #sound)
}

pub(crate) fn of_command(input: &DeriveInput) -> TokenStream {
    let command = quote! {
        fn read(
            _: u8,
            _: ::ambit::__private::Fields<'_>,
        ) -> ::core::result::Result<Self, ::ambit::ErrorCode>;
    };
    let typed_command = quote! {
        fn declarations() -> ::std::vec::Vec<::ambit::__private::CommandDeclaration>;

        fn into_command(self) -> ::ambit::message::GameCommand;
    };
    let command = implementation(input, &quote!(::ambit::Command), &command);
    let typed = quote!(::ambit::message::TypedCommand);
    let typed_command = implementation(input, &typed, &typed_command);
    let command = with_rules(command);
    quote!(#command #typed_command)
}

pub(crate) fn of_refusal(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn declarations() -> ::std::vec::Vec<::ambit::__private::RefusalDeclaration>;

        fn reason(&self) -> ::ambit::__private::Refused;
    };
    implementation(input, &quote!(::ambit::Refusal), &methods)
}

pub(crate) fn of_parameters(input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const TABLE: &'static [::ambit::__private::Parameter] = &[];

        fn read(_: &::ambit::__private::CheckedParameters) -> Self;
    };
    implementation(input, &quote!(::ambit::Parameters), &items)
}

pub(crate) fn of_controls(input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const NAMES: &'static [&'static str] = &[];
        const AXES: &'static [::core::option::Option<::ambit::__private::AxisKind>] = &[];

        fn declarations() -> ::std::vec::Vec<::ambit::__private::ControlDeclaration>;

        fn index(self) -> u8;
    };
    implementation(input, &quote!(::ambit::Controls), &items)
}

pub(crate) fn of_choice(input: &DeriveInput) -> TokenStream {
    let choice = quote! {
        const NAMES: &'static [&'static str] = &[];

        fn index(&self) -> u16;

        fn from_index(_: u16) -> ::core::option::Option<Self>;
    };
    let field = quote! {
        fn field_type() -> ::ambit::__private::FieldType;

        fn into_value(self) -> ::ambit::__private::Value;

        fn from_value(
            _: &::ambit::__private::Value,
            _: ::ambit::__private::Objects<'_>,
        ) -> ::core::result::Result<Self, ::ambit::ErrorCode>;
    };
    let choice = implementation(input, &quote!(::ambit::Choice), &choice);
    let message_field = quote!(::ambit::__private::MessageField);
    let field = implementation(input, &message_field, &field);
    quote!(#choice #field)
}

pub(crate) fn of_entry(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn fields() -> ::std::vec::Vec<::ambit::__private::FieldSpec>;

        fn into_values(self) -> ::std::vec::Vec<::ambit::__private::Value>;

        fn from_values(_: &[::ambit::__private::Value]) -> ::core::option::Option<Self>;
    };
    implementation(input, &quote!(::ambit::Entry), &methods)
}

pub(crate) fn of_serialize(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn serialize<__S: ::ambit::__private::serde::Serializer>(
            &self,
            _: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error>;
    };
    let serialize = quote!(::ambit::__private::serde::Serialize);
    implementation(input, &serialize, &methods)
}

pub(crate) fn of_deserialize(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn deserialize<__D: ::ambit::__private::serde::Deserializer<'__de>>(
            _: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            ::core::unreachable!()
        }
    };
    let mut generics = input.generics.clone();
    let lifetime: GenericParam = parse_quote!('__de);
    generics.params.insert(0, lifetime);
    let item = &input.ident;
    let (_, arguments, conditions) = input.generics.split_for_impl();
    let (parameters, _, _) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters ::ambit::__private::serde::Deserialize<'__de> for #item #arguments
        #conditions
        {
            #methods
        }
    }
}

/// `impl TRAIT for ITEM { ITEMS }`, also for an item with type parameters. Functions without a body
/// get one.
pub(crate) fn implementation(
    input: &DeriveInput,
    implemented: &TokenStream,
    items: &TokenStream,
) -> TokenStream {
    let items = with_bodies.parse2(items.clone()).expect("a stub has the items of a trait");
    let item = &input.ident;
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #implemented for #item #arguments #conditions {
            #(#items)*
        }
    }
}

fn with_bodies(input: ParseStream<'_>) -> syn::Result<Vec<TraitItem>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let mut item = input.parse()?;
        if let TraitItem::Fn(function) = &mut item {
            function.default.get_or_insert_with(|| parse_quote!({ ::core::unreachable!() }));
        }
        items.push(item);
    }
    Ok(items)
}
