//! Fields of events, commands and entries of lists: how they are declared and read.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

/// `ambit_proto::schema::MAX_FIELDS`.
pub(crate) const MAX_FIELDS: usize = 8;

/// The result of reading the next of the fields `given`.
pub(crate) fn field_reading(ty: &Type, given: &TokenStream) -> TokenStream {
    quote_spanned!(ty.span()=>
        #given.take().and_then(|value| {
            <#ty as ::ambit::__private::MessageField>::from_value(value, #given.objects())
        })
    )
}

/// The declaration of a field. The type is mentioned in the same form everywhere, so that the
/// compiler reports a bad one once.
pub(crate) fn field_spec(ty: &Type, name: &str) -> TokenStream {
    let field_type =
        quote_spanned!(ty.span()=> <#ty as ::ambit::__private::MessageField>::field_type());
    let optional = quote_spanned!(ty.span()=> <#ty as ::ambit::__private::MessageField>::OPTIONAL);
    quote! {
        ::ambit::__private::FieldSpec {
            name: #name.into(),
            ty: #field_type,
            optional: #optional,
        }
    }
}
