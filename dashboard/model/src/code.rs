//! Signing in at an OIDC issuer (authorization code flow with PKCE, RFC 7636): the URL of the redirect, and the query of
//! the return.

use crate::route::{encode, value};

/// A sign-in that is in progress at the issuer, stored in the tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSignIn {
    /// Returned by the redirect: proves that this tab started the sign-in.
    pub state: String,
    /// Returned in the token: proves that the token was made for this sign-in.
    pub nonce: String,
    /// Proves to the issuer that the code is exchanged by the party that started the sign-in.
    pub verifier: String,
    /// The page to return to.
    pub back: String,
}

impl PendingSignIn {
    /// Serializes the sign-in, separated by spaces: the secrets are hexadecimal, and a URL contains no space.
    pub fn print(&self) -> String {
        [&*self.state, &self.nonce, &self.verifier, &self.back].join(" ")
    }

    /// Parses a serialized sign-in. Returns `None` if a part is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ' ').map(str::to_string);
        let mut next = || words.next().filter(|word| !word.is_empty());
        Some(Self { state: next()?, nonce: next()?, verifier: next()?, back: next()? })
    }
}

/// A failed sign-in, as the sign-in page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The heading.
    pub title: &'static str,
    /// The reason, and what to do next.
    pub detail: String,
}

/// Returns the URL of the redirect to the issuer. `again` makes the issuer ask for credentials even if it knows the
/// person, so that they can sign in as someone else.
pub fn address(issuer: &str, page: &str, challenge: &str, pending: &PendingSignIn, again: bool) -> String {
    let PendingSignIn { state, nonce, .. } = pending;
    let again = if again { "&prompt=login" } else { "" };
    let page = encode(page);
    format!("{issuer}&redirect_uri={page}&state={state}&nonce={nonce}&code_challenge={challenge}{again}")
}

/// Returns the code or the error in the query of a return. Returns `None` if the query is not from an issuer.
pub fn returned(query: &str, pending: Option<&PendingSignIn>) -> Option<Result<String, Refusal>> {
    let (code, error) = (value(query, "code"), value(query, "error"));
    let result = match error {
        Some(error) => Err(Refusal {
            title: "Sign-in failed",
            detail: format!("The issuer responded: {}", value(query, "error_description").unwrap_or(error)),
        }),
        None => Ok(code?),
    };
    // A link from someone else must not sign anyone in, and its text must not be shown.
    let is_ours = pending.is_some_and(|pending| value(query, "state").as_deref() == Some(&pending.state));
    Some(if is_ours { result } else { Err(stray()) })
}

/// Returns the refusal of a sign-in that this tab did not start.
pub fn stray() -> Refusal {
    Refusal {
        title: "This sign-in did not start in this tab",
        detail: "It belongs to another tab, was already used, or came from someone else. You are not signed in.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> PendingSignIn {
        let text = |text: &str| text.to_string();
        PendingSignIn { state: text("s1"), nonce: text("n1"), verifier: text("v1"), back: text("/groups?q=a%20b") }
    }

    #[test]
    fn a_stored_sign_in_is_read_completely_or_not_at_all() {
        assert_eq!(PendingSignIn::parse(&pending().print()), Some(pending()));
        for text in ["", "s1", "s1 n1 v1", "s1 n1 v1 ", " n1 v1 /groups"] {
            assert_eq!(PendingSignIn::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_redirect_carries_state_nonce_and_challenge_but_not_the_verifier() {
        let sent = |again| address("https://people.example/a?x=1", "https://o.example/signin", "c1", &pending(), again);
        let plain = "https://people.example/a?x=1&redirect_uri=https:%2F%2Fo.example%2Fsignin&state=s1&nonce=n1&code_challenge=c1";
        assert_eq!(sent(false), plain);
        assert_eq!(sent(true), format!("{plain}&prompt=login"));
    }

    #[test]
    fn only_a_code_for_this_tab_is_accepted() {
        let denied =
            |why: &str| Some(Err(Refusal { title: "Sign-in failed", detail: format!("The issuer responded: {why}") }));
        let is_stray = Some(Err(stray()));
        for (query, expected) in [
            ("", None),
            ("state=s1", None),
            ("code=", None),
            ("code=k1&state=s1", Some(Ok("k1".to_string()))),
            ("code=k%2F1&state=s1&iss=x", Some(Ok("k/1".to_string()))),
            ("code=k1&state=s2", is_stray.clone()),
            ("code=k1&state=", is_stray.clone()),
            ("code=k1", is_stray.clone()),
            ("error=access_denied&error_description=Call+me&state=s2", is_stray.clone()),
            ("error=access_denied&state=s1", denied("access_denied")),
            ("error=access_denied&error_description=No+such+person.&state=s1", denied("No such person.")),
            ("error=server_error&code=k1&state=s1", denied("server_error")),
        ] {
            assert_eq!(returned(query, Some(&pending())), expected, "{query}");
            assert_eq!(returned(query, None), expected.and(is_stray.clone()), "{query} in another tab");
        }
    }
}
