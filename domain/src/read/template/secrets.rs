//! Secrets that a message tells: they are data, and no title shows them.

use super::{things, words};
use crate::read::vocabulary;
use alloc::string::String;

/// The beginnings of tokens that vendors issue (GitHub, GitLab, Slack, Stripe, AWS, npm, SendGrid, JSON Web Tokens).
#[rustfmt::skip]
const PREFIXES: [&str; 20] = [
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "sk_live_", "sk_test_",
    "rk_live_", "whsec_", "AKIA", "npm_", "SG.", "eyJ",
];

/// The shortest such token, bytes.
const TOKEN_BYTES_MIN: usize = 16;

/// Whether a token is a secret by its form.
pub fn is_secret(core: &str) -> bool {
    core.len() >= TOKEN_BYTES_MIN && PREFIXES.iter().any(|prefix| core.starts_with(prefix))
}

/// Whether the words before a token say that it is a secret: `password was hunter2`, `Bearer abcdef`. After a
/// noun, a colon has to label it.
pub fn is_named_secret(core: &str, before: &[String; 2], is_labelled: bool) -> bool {
    let [last, second] = [before[0].as_str(), before[1].as_str()];
    let is_noun = |word: &str| matches!(word, "password" | "passwd" | "passphrase" | "passwort" | "secret");
    let lower = || core.to_lowercase();
    // `password is wrong` says what is wrong with it.
    let is_word = || {
        words::is_truth(core) || vocabulary::holds(&lower()) || things::is_of_sentences(core) || core.ends_with("ed")
    };
    if last == "bearer" {
        // `Bearer authentication is required` has none.
        const BEARER_BYTES_MIN: usize = 8;
        return core.len() >= BEARER_BYTES_MIN && !is_word();
    }
    // `password: must have a digit` says what is wrong, too.
    let is_said = is_noun(second) && matches!(last, "was" | "is") || is_noun(last) && is_labelled;
    is_said && !is_word()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_form_and_by_what_is_said_of_them() {
        for token in ["ghp_aaaaBBBBccccDDDDeeee", "xoxb-aaaa-bbbb-ccccdddd", "sk_test_abcdefgh", "eyJhbGciOiJIUzI1NiJ9"]
        {
            assert!(is_secret(token), "{token}");
        }
        for token in ["ghp_short", "SG.short", "eyJ", "sk_list", "AKIArticle"] {
            assert!(!is_secret(token), "{token}");
        }
        let before = |last: &str, second: &str| [last.into(), second.into()];
        assert!(is_named_secret("correcthorse", &before("was", "password"), false));
        assert!(is_named_secret("abcdefghijkl", &before("bearer", "authorization"), false));
        for word in ["wrong", "expired", "not", "required", "invalid"] {
            assert!(!is_named_secret(word, &before("is", "password"), false), "{word}");
        }
        assert!(!is_named_secret("authentication", &before("bearer", ""), false));
        assert!(!is_named_secret("correcthorse", &before("was", "order"), false));
    }
}
