//! Snapshots of whole expansions, pretty-printed.

mod blocks;
mod graphs;
mod ui_cases;

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;

use crate::{
    diag::Diag,
    expand_flow,
    model::{self, Flow},
    parse, validate,
};

/// The expansion of `#[flow(options)] item` as formatted source.
#[track_caller]
fn expansion_of(options: TokenStream, item: TokenStream) -> String {
    let tokens = expand_flow(options, item);
    let file = syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error} in {tokens}"));
    prettyplease::unparse(&file)
}

/// The model of a block, if the block is a flow, with the mistakes that parse, model and rules report.
fn read(options: TokenStream, item: TokenStream) -> (Option<Flow>, Diag) {
    let mut diag = Diag::default();
    let flow = parse::parse(options, item, &mut diag).map(|parsed| model::build(&parsed, &mut diag));
    if let Some(flow) = &flow {
        validate::check(flow, &mut diag);
    }
    (flow, diag)
}

/// The texts of all mistakes of a block, as parse, model and rules find them.
fn mistakes(options: TokenStream, item: TokenStream) -> Vec<String> {
    let (_, diag) = read(options, item);
    let mut texts = Vec::new();
    for literal in diag.finish().err().into_iter().flat_map(literals) {
        texts.extend(syn::parse_str::<LitStr>(&literal.to_string()).map(|text| text.value()));
    }
    texts
}

fn literals(tokens: TokenStream) -> Vec<Literal> {
    let of = |token| match token {
        TokenTree::Group(group) => literals(group.stream()),
        TokenTree::Literal(literal) => vec![literal],
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(of).collect()
}

#[test]
fn a_flow_with_every_kind_of_parameter_expands() {
    let expansion = expansion_of(
        quote!(input = Vec<Order>, timeout = "30s"),
        quote! {
            /// Ships orders.
            impl Shop {
                /// Checks one order.
                #[map(over = input, max_attempts = 2)]
                async fn check(&self, item: Order) -> Result<Checked, StepError> { pick(one) }

                #[step(run_if = { "check": [{ "gift": true }] }, after(check))]
                async fn wrap(&self, input: Vec<Order>) -> Result<Wrap, StepError> { todo!() }

                #[step(blocking, slug = "Ship")]
                fn ship(&self, #[from(check)] checks: Vec<Checked>, wrap: Option<Wrap>, ctx: &StepContext) -> Result<u32> {
                    todo!()
                }

                fn helper(&self) {}
            }
        },
    );
    insta::assert_snapshot!(expansion);
}

#[test]
fn a_generic_flow_expands() {
    let expansion = expansion_of(
        quote!(input = u32, crate = engine),
        quote! {
            impl<P: Payments> Checkout<P>
            where
                P: Clone,
            {
                #[step(when_exhausted = skip, schema = any)]
                async fn charge(&self, input: u32) -> anyhow::Result<Receipt> { todo!() }
            }
        },
    );
    insta::assert_snapshot!(expansion);
}

#[test]
fn a_flow_whose_names_collide_keeps_the_first() {
    let expansion = expansion_of(
        quote!(input = u32),
        quote! {
            impl Shop {
                #[step]
                async fn step_2(&self, input: u32) -> Result<u32, StepError> { todo!() }

                #[step]
                async fn step2(&self, step_2: &str) -> Result<&u8, StepError> { todo!() }
            }
        },
    );
    insta::assert_snapshot!(expansion);
}

#[test]
fn a_flow_with_mistakes_keeps_its_items_and_names() {
    let expansion = expansion_of(
        quote!(input = Order, timout = "30s"),
        quote! {
            impl Shop {
                #[step]
                async fn pay(&self, inputt: Order) -> Result<u8, StepError> { body }
            }
        },
    );
    insta::assert_snapshot!(expansion);
}
