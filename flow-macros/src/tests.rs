//! Snapshots of whole expansions, pretty-printed.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand_flow;

/// The expansion of `#[flow(options)] item` as formatted source.
#[track_caller]
fn expansion_of(options: TokenStream, item: TokenStream) -> String {
    let tokens = expand_flow(options, item);
    let file = syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error} in {tokens}"));
    prettyplease::unparse(&file)
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
