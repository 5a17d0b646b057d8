//! Signing in at an issuer (OIDC's code flow with PKCE, RFC 7636), as texts: where a person is sent, and what they bring
//! back.

use crate::route::{encode, value};

/// What this tab remembers of a sign-in while the person is at the issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Comes back with the person: they were sent by this tab.
    pub state: String,
    /// Comes back in the token: it was made for this sign-in.
    pub nonce: String,
    /// Proves to the issuer that whoever exchanges the code began the sign-in.
    pub verifier: String,
    /// The page that the person wanted.
    pub back: String,
}

impl Pending {
    /// As one text. Secrets are hexadecimal, and a URL has no blank.
    pub fn print(&self) -> String {
        [&*self.state, &self.nonce, &self.verifier, &self.back].join(" ")
    }

    /// Reads it back.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(4, ' ').map(str::to_string);
        let mut next = || words.next().filter(|word| !word.is_empty());
        Some(Self { state: next()?, nonce: next()?, verifier: next()?, back: next()? })
    }
}

/// Why somebody did not get in, for the door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// In one line.
    pub title: &'static str,
    /// Why, and what can be done.
    pub words: String,
}

/// Where a person is sent: the issuer as the office names it, and what is of this sign-in alone. `again`: so that they
/// may come as somebody else than the issuer takes them for.
pub fn address(issuer: &str, page: &str, challenge: &str, pending: &Pending, again: bool) -> String {
    let Pending { state, nonce, .. } = pending;
    let again = if again { "&prompt=login" } else { "" };
    let page = encode(page);
    format!("{issuer}&redirect_uri={page}&state={state}&nonce={nonce}&code_challenge={challenge}{again}")
}

/// The code that somebody brings back in a page's query; none if they do not come from an issuer.
pub fn brought(query: &str, pending: Option<&Pending>) -> Option<Result<String, Outside>> {
    let (code, error) = (value(query, "code"), value(query, "error"));
    let result = match error {
        Some(error) => Err(Outside {
            title: "You were not let in",
            words: format!("The issuer says: {}", value(query, "error_description").unwrap_or(error)),
        }),
        None => Ok(code?),
    };
    // What a stranger's link says is not shown, and what it brings not taken.
    let is_ours = pending.is_some_and(|pending| value(query, "state").as_deref() == Some(&pending.state));
    Some(if is_ours { result } else { Err(stray()) })
}

/// Whoever comes back was not sent by this tab.
pub fn stray() -> Outside {
    Outside {
        title: "This sign-in was not begun here",
        words: "It belongs to another tab, was used before, or was made by somebody else. Nobody was signed in.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Pending {
        let text = |text: &str| text.to_string();
        Pending { state: text("s1"), nonce: text("n1"), verifier: text("v1"), back: text("/groups?q=a%20b") }
    }

    #[test]
    fn what_a_tab_remembers_is_read_back_whole_or_not_at_all() {
        assert_eq!(Pending::read(&pending().print()), Some(pending()));
        for text in ["", "s1", "s1 n1 v1", "s1 n1 v1 ", " n1 v1 /groups"] {
            assert_eq!(Pending::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_person_is_sent_with_state_nonce_and_challenge_and_the_verifier_stays() {
        let sent = |again| address("https://people.example/a?x=1", "https://o.example/signin", "c1", &pending(), again);
        let plain = "https://people.example/a?x=1&redirect_uri=https:%2F%2Fo.example%2Fsignin&state=s1&nonce=n1&code_challenge=c1";
        assert_eq!(sent(false), plain);
        assert_eq!(sent(true), format!("{plain}&prompt=login"));
    }

    #[test]
    fn only_a_code_that_this_tab_asked_for_is_taken() {
        let denied =
            |why: &str| Some(Err(Outside { title: "You were not let in", words: format!("The issuer says: {why}") }));
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
            assert_eq!(brought(query, Some(&pending())), expected, "{query}");
            assert_eq!(brought(query, None), expected.and(is_stray.clone()), "{query} in another tab");
        }
    }
}
