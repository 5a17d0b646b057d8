//! Who may no longer sign in, and how long a session may be idle.

use crate::person::Person;
use crate::time::{Span, Timestamp};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The rules of sign-in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SignInPolicy {
    /// After this time without input, the dashboard signs a person out, milliseconds, 1 minute to 14 days; null for never.
    /// Default: 30 minutes.
    pub idle_ms: Option<Span>,
    /// People whose tokens are refused at once, although they are still valid. None by default.
    pub revoked: Vec<Revoked>,
}

impl Default for SignInPolicy {
    fn default() -> Self {
        Self { idle_ms: Some(Span::from_mins(30)), revoked: Vec::new() }
    }
}

/// A person whose tokens are refused. All given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Revoked {
    /// The issuer's identifier of the person (`sub`).
    pub subject: Option<String>,
    /// The person's name in the office, in any case.
    pub name: Option<String>,
    /// Refuses only those who signed in before this moment, milliseconds since 1970. Without `subject` and `name` it
    /// applies to everyone.
    pub issued_before: Option<Timestamp>,
}

impl Revoked {
    /// Whether the entry applies to nobody: no field is given, or a name or subject is blank.
    pub(super) fn names_nobody(&self) -> bool {
        let Self { subject, name, issued_before } = self;
        let mut texts = [subject, name].into_iter().flatten();
        texts.any(|text| text.trim().is_empty()) || (subject.is_none() && name.is_none() && issued_before.is_none())
    }

    /// Whether the entry applies to a person who signed in at this moment.
    fn covers(&self, person: &Person, signed_in_at: Timestamp) -> bool {
        let Self { subject, name, issued_before } = self;
        let subject_fits = |subject: &String| person.id.as_ref().is_some_and(|id| id.subject == subject.trim());
        let name_fits = |name: &String| name.trim().to_lowercase() == person.name.as_str().trim().to_lowercase();
        !self.names_nobody()
            && subject.as_ref().is_none_or(subject_fits)
            && name.as_ref().is_none_or(name_fits)
            && issued_before.is_none_or(|before| signed_in_at < before)
    }
}

impl SignInPolicy {
    /// Whether the tokens of a person who signed in at this moment are refused.
    ///
    /// ```
    /// use domain::policy::SignInPolicy;
    /// use domain::time::Timestamp;
    ///
    /// let policy: SignInPolicy = serde_json::from_str(r#"{ "revoked": [{ "name": "otto" }] }"#)?;
    /// assert!(policy.revokes(&"Otto".into(), Timestamp::from_ms(0)));
    /// assert!(!policy.revokes(&"anna".into(), Timestamp::from_ms(0)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn revokes(&self, person: &Person, signed_in_at: Timestamp) -> bool {
        self.revoked.iter().any(|revoked| revoked.covers(person, signed_in_at))
    }
}
