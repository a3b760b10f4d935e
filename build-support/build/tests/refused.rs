//! What no wrapper takes does not compile. The messages are reviewed by eye; `TRYBUILD=overwrite` writes them.

#[test]
fn wrong_arguments_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refused/*.rs");
}
