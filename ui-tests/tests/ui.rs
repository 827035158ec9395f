//! What the macros accept, and what they say when they refuse.

#[test]
fn programs_compile_or_are_refused_with_the_recorded_words() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*/*.rs");
}
