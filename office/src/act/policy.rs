//! Changing the policy, and checking one before.

use super::text;
use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::Write;
use domain::person::Person;
use domain::policy::{Policy, PolicyVersion, changes, warnings};
use domain::text::{Lines, TextError, hidden};
use domain::time::Timestamp;
use serde_json::Value;
use wire::{PolicyCheckAnswer, PolicyRequest};

/// Who changes the policy.
#[derive(Clone, Debug)]
pub struct Author {
    /// The person.
    pub person: Person,
    /// When they signed in.
    pub signed_in_at: Timestamp,
}

/// The longest problem that an answer repeats, characters: the names of all settings that would have been right are
/// about as long.
const PROBLEM_CHARS_MAX: usize = 500;

/// Compares a policy with the one that applies, and says why it would be refused. Changes nothing.
pub async fn check_policy(office: &Office, who: &Author, policy: &Value) -> Result<PolicyCheckAnswer, OfficeError> {
    let office = office.latest().await?;
    let before = own_policy(&office);
    let (problems, policy) = match read(&office, who, policy) {
        Ok(policy) => (Vec::new(), Some(policy)),
        Err(problem) => (vec![problem], None),
    };
    let compared = policy.map(|after| (changes(&before, &after), warnings(&before, &after)));
    let (changes, warnings) = compared.unwrap_or_default();
    Ok(PolicyCheckAnswer { version: office.policy_version, problems, changes, warnings })
}

/// Writes the next version of the policy. Fails with [`OfficeError::NotNow`] if another version than the request's
/// applies now.
pub async fn change_policy(
    office: &Office,
    who: &Author,
    request: &PolicyRequest,
) -> Result<PolicyVersion, OfficeError> {
    let reason = text("the reason", &request.reason)?;
    let office = office.latest().await?;
    if office.policy_version != request.version {
        return Err(other_version(&office).await?);
    }
    let policy = read(&office, who, &request.policy).map_err(OfficeError::Invalid)?;
    let changes = changes(&own_policy(&office), &policy);
    if changes.is_empty() && request.version > 0 {
        return Err(OfficeError::Invalid(format!(
            "this policy is the same as version {}; nothing was changed",
            request.version
        )));
    }
    let settings = changes.len();
    let (version, by, at) = (request.version + 1, who.person.name.clone(), office.now());
    let written = PolicyVersion { version, policy, by, at, reason, changes };
    if !commit(&office, vec![Write::Policy(Box::new(written.clone()))]).await?.is_made() {
        return Err(other_version(&office.latest().await?).await?);
    }
    tracing::warn!(actor = %written.by, version, settings, "the policy was changed");
    // This process follows it at once.
    office.latest().await?;
    Ok(written)
}

/// Returns the policy that applies, without what the deployment adds to every version.
pub(crate) fn own_policy(office: &Office) -> Policy {
    let queues = office.policy.queues.clone().without(office.policies.named());
    Policy { queues, ..Policy::clone(&office.policy) }
}

/// Reads a policy from outside. An error says in a sentence why it is refused.
fn read(office: &Office, who: &Author, policy: &Value) -> Result<Policy, String> {
    if let Some((text, error)) = hidden_text(policy) {
        // Escaped, so that a terminal shows it instead of obeying it.
        return Err(format!("The policy is not valid: the text {text:?} {error}."));
    }
    let policy = Policy::from_value(policy).map_err(|error| {
        let problem = chain(&error);
        let shown: String = problem.chars().take(PROBLEM_CHARS_MAX).collect();
        let end = if shown.len() < problem.len() { "…" } else { "." };
        format!("The policy is not valid: {shown}{end}")
    })?;
    let queues = policy.queues.main.iter().chain(&policy.queues.default_main);
    if let Some(why) = queues.into_iter().find_map(|queue| office.refuses(queue)) {
        return Err(why);
    }
    if policy.sign_in.revokes(&who.person, who.signed_in_at) {
        return Err("The list sign_in.revoked would revoke your own access. Let another admin make this change.".into());
    }
    Ok(policy)
}

/// Returns the first name or text with a character that changes how a terminal or a page shows what surrounds it.
fn hidden_text(value: &Value) -> Option<(&str, TextError)> {
    let of = |text: &'_ str| hidden(text, Lines::One);
    match value {
        Value::String(text) => of(text).map(|error| (text.as_str(), error)),
        Value::Array(items) => items.iter().find_map(hidden_text),
        Value::Object(members) => members
            .iter()
            .find_map(|(name, value)| of(name).map(|error| (name.as_str(), error)).or_else(|| hidden_text(value))),
        _ => None,
    }
}

async fn other_version(office: &Office) -> Result<OfficeError, OfficeError> {
    let newest = office.store.policy().await?;
    let by = newest.map(|newest| format!(", written by {}", newest.by)).unwrap_or_default();
    Ok(OfficeError::NotNow(format!(
        "the policy has changed: version {} applies now{by}. Read it, then make your change again",
        office.policy_version
    )))
}
