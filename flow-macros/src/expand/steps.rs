//! Expands the step enum, the keys and the structs of dependencies.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::quiet;
use crate::model::{Flow, Step};

/// The name of the step enum.
pub(super) fn enum_name(flow: &Flow) -> &Ident {
    &flow.step_enum.name
}

pub(super) fn expand_enum(flow: &Flow) -> TokenStream {
    let generated = &flow.generated;
    let name = enum_name(flow);
    let variants: Vec<&Ident> = flow.in_order().map(|step| &step.variant).collect();
    let slugs: Vec<&str> = flow.in_order().map(|step| step.slug.value.as_str()).collect();
    let docs: Vec<String> = flow.in_order().map(|step| format!(" Step `{}`.", step.slug.value)).collect();
    let doc = format!(" The steps of [`{}`], in step order.", flow.name);
    let body =
        if variants.is_empty() { quote!(match self {}) } else { quote!(Self::__SLUGS[self as #generated::usize]) };
    let index = if variants.is_empty() { quote!(match self {}) } else { quote!(self as #generated::usize) };
    quote! {
        #[doc = #doc]
        #[allow(unreachable_pub, dead_code)]
        #[#generated::derive(
            #generated::Clone, #generated::Copy, #generated::PartialEq, #generated::Eq, #generated::Hash, #generated::Debug
        )]
        pub enum #name {
            #(#[doc = #docs] #variants,)*
        }

        impl #name {
            /// Every step, in step order.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            #[doc(hidden)]
            pub const __SLUGS: &'static [&'static #generated::str] = &[#(#slugs),*];

            /// The step's exact slug.
            #[must_use]
            pub const fn as_str(self) -> &'static #generated::str {
                #body
            }

            /// The step's place in step order, from 0.
            #[must_use]
            pub const fn index(self) -> #generated::usize {
                #index
            }
        }

        #generated::step_enum!(#name);
    }
}

pub(super) fn expand_keys(flow: &Flow) -> TokenStream {
    let generated = &flow.generated;
    let self_ty = &flow.self_ty;
    let (impl_generics, _, where_clause) = flow.generics.split_for_impl();
    let quiet = quiet();
    let keys =
        flow.in_order().enumerate().filter(|(_, step)| !flow.constants.contains(&step.key)).map(|(index, step)| {
            let key = &step.key;
            let slug = &step.slug.value;
            let doc = format!(" Names step `{slug}` and the type of its output.");
            let output = step.output().filter(|ty| flow.can_stand_alone(ty)).and(step.whole_output(generated));
            // A step whose output type is wrong keeps its key, with a stand-in type, so that code which uses the key gives no error.
            let output = output.unwrap_or_else(|| quote!(()));
            let index = index_literal(index);
            quote! {
                #[doc = #doc]
                pub const #key: #generated::StepKey<Self, #output> = #generated::StepKey::new(#slug, #index);
            }
        });
    quote! {
        #quiet
        impl #impl_generics #self_ty #where_clause { #(#keys)* }
    }
}

pub(super) fn expand_deps(flow: &Flow) -> TokenStream {
    flow.in_order().map(|step| expand_deps_of(flow, step)).collect()
}

fn expand_deps_of(flow: &Flow, step: &Step) -> TokenStream {
    let (name, quiet) = (&step.deps_struct, quiet());
    let doc = format!(" What step `{}` of [`{}`] takes from the steps before it.", step.slug.value, flow.name);
    let fields = step.needs().filter(|(param, _)| flow.can_stand_alone(&param.ty)).map(|(param, reference)| {
        let (field, ty) = (&param.name, &param.ty);
        let doc = format!(" The output of step `{}`.", reference.name);
        quote!(#[doc = #doc] pub #field: #ty)
    });
    quote! {
        #[doc = #doc]
        #quiet
        pub struct #name { #(#fields),* }
    }
}

/// A step's place in step order, as a literal without suffix.
pub(super) fn index_literal(index: usize) -> Literal {
    Literal::usize_unsuffixed(index)
}
