//! Tests of rare blocks: odd items, types and names, and every form of a condition.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{expansion_of, mistakes, read};
use crate::model::Flow;

/// The flow of a legal block over `u32`.
#[track_caller]
fn flow_of(item: TokenStream) -> Flow {
    let (flow, diag) = read(quote!(input = u32), item);
    assert!(diag.finish().is_ok(), "the block has mistakes");
    flow.expect("is a block")
}

fn shop(method: TokenStream) -> TokenStream {
    quote!(impl Shop { #method })
}

/// The JSON text of a condition, or what is wrong with the condition.
fn condition(written: &str) -> Result<String, String> {
    let written: TokenStream = written.parse().expect("is made of tokens");
    let item = shop(quote!(
        #[step(run_if = #written)]
        async fn pay(&self) -> Result<u8, E> {}
    ));
    if let Some(mistake) = mistakes(quote!(input = u32), item.clone()).into_iter().next() {
        return Err(mistake);
    }
    Ok(flow_of(item).steps[0].run_if.as_ref().expect("has a condition").value.to_text())
}

#[test]
fn numbers_are_kept_as_they_are_written_or_refused() {
    let kept = [
        ("0", "0"),
        ("007", "7"),
        ("0.5", "0.5"),
        ("00.50", "0.50"),
        ("-0.25", "-0.25"),
        ("1_000", "1000"),
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("12345678.1234567", "12345678.1234567"),
        ("0.123456789012345", "0.123456789012345"),
    ];
    for (written, text) in kept {
        assert_eq!(condition(written).as_deref(), Ok(text), "{written}");
    }
    for written in ["18446744073709551616", "-9223372036854775809", "12345678.12345678", "1.123456789012345"] {
        let mistake = condition(written).expect_err("is not exact");
        assert!(mistake.contains("more digits than JSON keeps"), "{written}: {mistake}");
    }
}

#[test]
fn texts_become_json_texts() {
    let texts = [
        (r#"" a""#, r#"" a""#),
        (r#""a\"b\\c""#, r#""a\"b\\c""#),
        (r#""\n\t\u{1f}\u{7f}""#, "\"\\u000a\\u0009\\u001f\u{7f}\""),
        (r#"{ "\n": ["ü", null, true] }"#, r#"{"\u000a":["ü",null,true]}"#),
    ];
    for (written, text) in texts {
        assert_eq!(condition(written).as_deref(), Ok(text), "{written}");
    }
}

#[test]
fn items_that_are_no_steps_are_passed_on_and_swallow_none() {
    let item = shop(quote! {
        const LIMIT: u8 = { 1 };
        type Money = u32;
        more_helpers!(fn helper() {});
        helpers! { fn helper() {} }
        #[step]
        async fn pay(&self) -> Result<u8, E> {}
        fn helper(&self) {}
        #[step]
        async fn ship(&self, pay: u8) -> Result<u8, E> {}
    });
    let slugs: Vec<String> = flow_of(item.clone()).steps.iter().map(|step| step.slug.value.clone()).collect();
    assert_eq!(slugs, ["pay", "ship"]);
    let expansion = super::expand_flow(quote!(input = u32), item).to_string();
    let kept = [
        "const LIMIT : u8 = { 1 } ;",
        "type Money = u32 ;",
        "helpers ! { fn helper () { } }",
        "fn helper (& self) { }",
    ];
    for text in kept {
        assert!(expansion.contains(text), "{text}");
    }
}

#[test]
fn a_step_that_is_half_written_is_left_to_rustc() {
    let item = shop(quote!(#[step] async fn pay(&self, input: ) -> Result<u8, E> {}));
    assert_eq!(mistakes(quote!(input = u32), item), [""; 0]);
}

#[test]
fn a_parameter_has_a_plain_name() {
    for pattern in [quote!(ref pay), quote!(pay @ 1), quote!(ref pay @ 1), quote!((pay, _))] {
        let item = shop(quote! {
            #[step]
            async fn pay(&self) -> Result<u8, E> {}
            #[step]
            async fn ship(&self, #pattern: u8) -> Result<u8, E> {}
        });
        let text = "a parameter is named like the step it takes; say which with `#[from(step)]` before a pattern";
        assert_eq!(mistakes(quote!(input = u32), item), [text], "{pattern}");
    }
}

#[test]
fn self_in_a_type_is_spelled_out() {
    let expansion = expansion_of(
        quote!(input = u32),
        quote! {
            impl shops::Shop {
                #[step]
                async fn pay(&self) -> Result<Vec<(Self, [Self; 2])>, Box<Self>> {}
            }
        },
    );
    let (_, ours) = expansion.split_once("enum ShopStep").expect("the step enum is made");
    let ours: String = ours.split_whitespace().collect();
    for ty in ["(shops::Shop,[shops::Shop;2])", "Box<shops::Shop>"] {
        assert!(ours.contains(ty), "{ty} in {expansion}");
    }
    assert!(!ours.contains("[Self;2]") && !ours.contains("Box<Self>"), "{expansion}");
}

#[test]
fn a_variant_or_a_key_that_is_taken_hides_its_step() {
    // The method `step_2` gives the variant `Step2` and the key `STEP_2`.
    for (variant, is_shown) in [(quote!(Step2), false), (quote!(Step_2), false), (quote!(Step3), true)] {
        let item = shop(quote! {
            #[step(variant = #variant)]
            async fn pay(&self) -> Result<u8, E> {}
            #[step]
            async fn step_2(&self) -> Result<u8, E> {}
        });
        let flow = read(quote!(input = u32), item).0.expect("is a block");
        let shown: Vec<String> = flow.in_order().map(|step| step.slug.value.clone()).collect();
        let expected = if is_shown { vec!["pay", "step_2"] } else { vec!["pay"] };
        assert_eq!(shown, expected, "{variant}");
    }
}

#[test]
fn a_step_named_like_a_type_does_not_take_the_types_name() {
    let is_apart = |input: TokenStream, param: TokenStream, output: TokenStream| {
        let item = shop(quote! {
            #[step]
            async fn cents(&self, input: #param) -> Result<#output, E> {}
            #[step]
            async fn pay(&self, cents: Total) -> Result<u8, E> {}
        });
        let expansion = expansion_of(quote!(input = #input), item);
        assert!(expansion.contains("enum cents {}") != expansion.contains("enum __cents {}"));
        expansion.contains("enum __cents {}")
    };
    assert!(!is_apart(quote!(u32), quote!(u32), quote!(u32)));
    assert!(is_apart(quote!(cents), quote!(u32), quote!(u32)));
    assert!(is_apart(quote!(u32), quote!(Vec<cents>), quote!(u32)));
    assert!(is_apart(quote!(u32), quote!(u32), quote!((u8, [cents; 2]))));
}

#[test]
fn a_type_is_owned_written_out_and_free_of_parameters() {
    let with = |ty: TokenStream| {
        let item = quote!(impl<P: Pay> Shop<P> { #[step] async fn pay(&self, input: #ty) -> Result<u8, E> {} });
        mistakes(quote!(input = u32), item)
    };
    assert_eq!(with(quote!(std::borrow::Cow<'static, str>)), [""; 0]);
    for (ty, part) in [
        (quote!(std::borrow::Cow<'a, str>), "drop the reference or lifetime"),
        (quote!((u8, &'static str)), "drop the reference or lifetime"),
        (quote!((u8, [P; 2])), "not the type parameter `P`"),
        (quote!(Vec<P>), "not the type parameter `P`"),
        (quote!((u8, impl Pay)), "not `impl Trait`"),
        (quote!([_; 2]), "not `_`"),
    ] {
        let found = with(ty.clone());
        assert!(found.len() == 1 && found[0].contains(part), "{ty}: {found:?}");
    }
}

#[test]
fn beside_a_mistake_no_key_has_a_type_that_cannot_stand_alone() {
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    let has_key_of = |output: TokenStream| {
        let expansion = expansion_of(
            quote!(input = u32, timout = "1s"),
            quote! {
                impl<P: Pay> Shop<P> {
                    #[step]
                    async fn pay(&self) -> Result<#output, E> {}
                }
            },
        );
        without_spaces(&expansion).contains(&without_spaces(&format!("StepKey<Self, {output}")))
    };
    assert!(has_key_of(quote!(u8)) && has_key_of(quote!(Vec<std::borrow::Cow<'static, str>>)));
    for output in [quote!(&'a str), quote!(Vec<_>), quote!(impl Pay), quote!(P), quote!((u8, P)), quote!(Cow<'a, str>)]
    {
        assert!(!has_key_of(output.clone()), "{output}");
    }
}

#[test]
fn a_value_ends_at_the_comma_outside_of_its_brackets() {
    let pay = || {
        shop(quote!(
            #[step]
            async fn pay(&self) -> Result<u8, E> {}
        ))
    };
    for input in [quote!(Map<u8, Vec<Map<u8, u8>>>), quote!(Pair<fn(u8) -> u8, u8>), quote!((u8, u8))] {
        let options = quote!(input = #input, timeout = "1s", slug = "other");
        assert_eq!(mistakes(options.clone(), pay()), [""; 0], "{input}");
        let flow = read(options, pay()).0.expect("is a block");
        let text = |tokens: TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(text(flow.input.to_token_stream()), text(input.clone()));
        assert_eq!((flow.slug.value.as_str(), flow.numbers.iter().count()), ("other", 1), "{input}");
    }
}

#[test]
fn two_methods_of_one_name_are_left_to_rustc() {
    let pay = quote!(
        #[step]
        async fn pay(&self) -> Result<u8, E> {}
    );
    assert_eq!(mistakes(quote!(input = u32), shop(quote!(#pay #pay))), [""; 0]);
}

#[test]
fn delays_may_be_equal() {
    let options = quote!(input = u32, base_delay = "5s", max_delay = "5s");
    let item = shop(quote!(
        #[step(base_delay = "9s", max_delay = "9s")]
        async fn pay(&self) -> Result<u8, E> {}
    ));
    assert_eq!(mistakes(options, item), [""; 0]);
}

#[test]
fn a_reference_says_what_to_take_in_its_place() {
    for (ty, owned) in [(quote!(&str), "String"), (quote!(&Order), "Order"), (quote!(&[u8]), "Vec<u8>")] {
        let item = shop(quote!(#[step] async fn pay(&self, input: #ty) -> Result<u8, E> {}));
        let text = format!("a handler owns its arguments; take `{owned}`, not a reference");
        assert_eq!(mistakes(quote!(input = u32), item), [text]);
    }
}

#[test]
fn an_option_without_its_value_says_what_it_takes() {
    let with = |options: TokenStream| {
        let item = shop(quote!(
            #[step(#options)]
            async fn pay(&self) -> Result<u8, E> {}
        ));
        mistakes(quote!(input = u32), item)
    };
    let text = "`slug` takes a string, as in `slug = \"fulfil_order\"`";
    for options in [quote!(slug =), quote!(slug), quote!(slug("x"))] {
        assert_eq!(with(options), [text]);
    }
    assert_eq!(with(quote!(timeout =)), ["`timeout` takes a duration as a string, as in \"30s\""]);
    assert_eq!(with(quote!(run_if =)), ["`run_if` takes JSON, as in `{ \"gift\": true }`"]);
    let text = "`after` takes names of steps in parentheses, as in `after(reserve, charge)`";
    assert_eq!(with(quote!(after =)), [text]);
}
