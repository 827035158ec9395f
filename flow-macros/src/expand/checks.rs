//! Hidden traits through which rustc checks that types agree, worded for the user.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::steps::index_literal;
use crate::{
    model::{Flow, Source, Step},
    text::type_text,
};

/// One trait a step that others depend on; its only implementor is the type that dependents take.
pub(super) fn expand(flow: &Flow) -> TokenStream {
    let taken = flow.steps.iter().enumerate().filter(|(declared, _)| is_taken(flow, *declared));
    let traits = taken.map(|(declared, step)| expand_step(flow, declared, step));
    let input = expand_input(flow);
    quote! { #(#traits)* #input }
}

/// The contract of type `ty`, which has to have a schema unless the user said that it has none.
pub(super) fn expand_contract(flow: &Flow, has_schema: bool, ty: &TokenStream) -> TokenStream {
    let private = &flow.private;
    let contract = if has_schema {
        quote!(#private::Carrier::<#ty>::of().contract::<#ty>())
    } else {
        quote!(#private::TypeContract::any())
    };
    quote! {{
        #[allow(unused_imports)]
        use #private::NoCarrier as _;
        #contract
    }}
}

/// The hidden trait of a step's output as dependents take it.
pub(super) fn output_trait(step: &Step) -> Ident {
    format_ident!("__OutputOf{}", step.variant, span = Span::call_site())
}

/// The hidden trait of the run's input.
pub(super) fn input_trait() -> Ident {
    Ident::new("__InputOfFlow", Span::call_site())
}

fn is_taken(flow: &Flow, declared: usize) -> bool {
    flow.steps.iter().any(|step| step.needs().any(|(_, reference)| reference.target == Some(declared)))
}

fn expand_step(flow: &Flow, declared: usize, step: &Step) -> TokenStream {
    let private = &flow.private;
    let name = output_trait(step);
    let index = index_literal(flow.index_of(declared));
    let whole = step.whole_output(private);
    let written = step.written_output().unwrap_or_default();
    let method = step.method_name();
    let (implementor, take, message, label) = match step.absence() {
        Some(cause) => (
            quote!(#private::Option<#whole>),
            quote!(optional_dep),
            format!(
                "step `{method}` may be skipped (`{}`), so it is taken as `Option<{written}>`, not `{{Self}}`",
                cause.describe()
            ),
            format!("expected `Option<{written}>`"),
        ),
        None => (
            quote!(#whole),
            quote!(dep),
            format!("step `{method}` returns `{written}`, not `{{Self}}`"),
            format!("expected `{written}`, the output of `{method}`"),
        ),
    };
    expand_trait(
        flow,
        &name,
        &implementor,
        &message,
        &label,
        &quote!(#private::Carrier::<#whole>::of().#take(args, param, #index)),
    )
}

/// A trait whose only implementor is the type that handlers take, which it decodes.
fn expand_trait(
    flow: &Flow,
    name: &Ident,
    implementor: &TokenStream,
    message: &str,
    label: &str,
    body: &TokenStream,
) -> TokenStream {
    let private = &flow.private;
    let signature = quote! {
        fn take(args: &#private::StepArgs, param: &'static #private::str)
            -> #private::Result<Self, #private::StepError>
    };
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        trait #name: #private::Sized {
            #signature;
        }

        #[automatically_derived]
        impl #name for #implementor {
            #signature {
                #[allow(unused_imports)]
                use #private::NoCarrier as _;
                #body
            }
        }
    }
}

fn expand_input(flow: &Flow) -> TokenStream {
    let private = &flow.private;
    let Some(input) = flow.input.as_ref().filter(|_| flow.steps.iter().any(Step::takes_input)) else {
        return TokenStream::new();
    };
    let written = type_text(input);
    let message = format!("the input of this flow is `{written}`, not `{{Self}}`");
    let label = format!("expected `{written}`, as in `#[flow(input = {written})]`");
    let body = quote!({
        let _ = param;
        #private::Carrier::<#input>::of().input(args)
    });
    expand_trait(flow, &input_trait(), &quote!(#input), &message, &label, &body)
}

/// The list that a map runs over, and the user's word for it.
pub(super) fn source_of<'a>(flow: &'a Flow, step: &'a Step) -> Option<(TokenStream, &'a Ident)> {
    match step.source.as_ref()? {
        Source::Input(over) => Some((flow.input.as_ref()?.to_token_stream(), over)),
        Source::Step(reference) => {
            let source = &flow.steps[reference.target?];
            Some((source.whole_output(&flow.private)?, &reference.name))
        }
    }
}
