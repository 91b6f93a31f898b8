//! Stubs: what a derive generates beside its error message.
//!
//! Without them the compiler would also report each use of the type ("`Walker` is not a kind of
//! object"), and the author would have to find the one mistake among many errors. No stub is ever
//! executed, since the program does not compile. The stubs of kinds and games are beside their
//! derives: they need what could be read of the item.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, GenericParam, parse_quote};

use crate::with_rules;

pub(crate) fn of_event(input: &DeriveInput) -> TokenStream {
    let typed = quote! {
        const NAME: &'static str = "";

        fn declaration() -> (
            ::ambit::__private::EventKind,
            ::ambit::__private::EventPresentation,
        ) {
            ::core::unreachable!()
        }

        fn from_fields(_: &[::ambit::__private::Value]) -> ::core::option::Option<Self> {
            ::core::unreachable!()
        }
    };
    let methods = quote! {
        fn into_fields(self) -> ::std::vec::Vec<::ambit::__private::Value> {
            ::core::unreachable!()
        }
    };
    let about = quote! {
        fn about(&self) -> ::ambit::ObjectId {
            ::core::unreachable!()
        }
    };
    let event = implementation(input, &quote!(::ambit::Event), &methods);
    let about = implementation(input, &quote!(::ambit::AboutObject), &about);
    let typed = implementation(input, &quote!(::ambit::message::TypedEvent), &typed);
    let in_rooms = with_rules(quote!(#event #about));
    quote!(#typed #in_rooms)
}

pub(crate) fn of_sound(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn declaration() -> ::ambit::__private::EventKind {
            ::core::unreachable!()
        }
    };
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
        ) -> ::core::result::Result<Self, ::ambit::ErrorCode> {
            ::core::unreachable!()
        }
    };
    let typed_command = quote! {
        fn declarations() -> ::std::vec::Vec<(
            ::ambit::__private::CommandKind,
            ::ambit::__private::CommandPresentation,
        )> {
            ::core::unreachable!()
        }

        fn into_command(self) -> ::ambit::message::GameCommand {
            ::core::unreachable!()
        }
    };
    let command = implementation(input, &quote!(::ambit::Command), &command);
    let typed = quote!(::ambit::message::TypedCommand);
    let typed_command = implementation(input, &typed, &typed_command);
    let command = with_rules(command);
    quote!(#command #typed_command)
}

pub(crate) fn of_refusal(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn declarations() -> ::std::vec::Vec<(
            ::ambit::__private::RefusalKind,
            ::ambit::__private::RefusalPresentation,
        )> {
            ::core::unreachable!()
        }

        fn reason(&self) -> ::ambit::__private::Refused {
            ::core::unreachable!()
        }
    };
    implementation(input, &quote!(::ambit::Refusal), &methods)
}

pub(crate) fn of_parameters(input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const TABLE: &'static [::ambit::__private::Parameter] = &[];

        fn read(_: &::ambit::__private::CheckedParameters) -> Self {
            ::core::unreachable!()
        }
    };
    implementation(input, &quote!(::ambit::Parameters), &items)
}

pub(crate) fn of_controls(input: &DeriveInput) -> TokenStream {
    let items = quote! {
        const NAMES: &'static [&'static str] = &[];
        const AXES: &'static [::core::option::Option<::ambit::__private::AxisKind>] = &[];

        fn declarations() -> ::std::vec::Vec<(
            ::ambit::__private::ControlSpec,
            ::ambit::__private::ControlPresentation,
        )> {
            ::core::unreachable!()
        }

        fn index(self) -> u8 {
            ::core::unreachable!()
        }
    };
    implementation(input, &quote!(::ambit::Controls), &items)
}

pub(crate) fn of_choice(input: &DeriveInput) -> TokenStream {
    let choice = quote! {
        const NAMES: &'static [&'static str] = &[];

        fn index(&self) -> u8 {
            ::core::unreachable!()
        }

        fn from_index(_: u8) -> ::core::option::Option<Self> {
            ::core::unreachable!()
        }
    };
    let field = quote! {
        fn field_type() -> ::ambit::__private::FieldType {
            ::core::unreachable!()
        }

        fn into_value(self) -> ::ambit::__private::Value {
            ::core::unreachable!()
        }

        fn from_value(
            _: &::ambit::__private::Value,
            _: ::ambit::__private::Objects<'_>,
        ) -> ::core::result::Result<Self, ::ambit::ErrorCode> {
            ::core::unreachable!()
        }
    };
    let choice = implementation(input, &quote!(::ambit::Choice), &choice);
    let message_field = quote!(::ambit::__private::MessageField);
    let field = implementation(input, &message_field, &field);
    quote!(#choice #field)
}

pub(crate) fn of_serialize(input: &DeriveInput) -> TokenStream {
    let methods = quote! {
        fn serialize<__S: ::ambit::__private::serde::Serializer>(
            &self,
            _: __S,
        ) -> ::core::result::Result<__S::Ok, __S::Error> {
            ::core::unreachable!()
        }
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

/// `impl TRAIT for ITEM { METHODS }`, also for an item with type parameters.
pub(crate) fn implementation(
    input: &DeriveInput,
    implemented: &TokenStream,
    methods: &TokenStream,
) -> TokenStream {
    let item = &input.ident;
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #implemented for #item #arguments #conditions {
            #methods
        }
    }
}
