//! The approval's proof cannot be forged: attempts do not compile.

/// Each file of `tests/forgery` is one attempt, next to the compiler's error message (`TRYBUILD=overwrite` rewrites
/// it).
#[test]
fn no_attempt_compiles() {
    trybuild::TestCases::new().compile_fail("tests/forgery/*.rs");
}
