//! The approval's proof cannot be forged: what tries to does not compile.

/// Each file of `tests/forgery` is one attempt, with the compiler's refusal beside it (`TRYBUILD=overwrite` writes it
/// anew).
#[test]
fn no_attempt_compiles() {
    trybuild::TestCases::new().compile_fail("tests/forgery/*.rs");
}
