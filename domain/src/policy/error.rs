//! Why a policy is refused.

use alloc::string::String;

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// It is not JSON, or a key or a value is unknown.
    #[error("the policy cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// A setting is unknown, or its value has another type.
    #[error("{setting} cannot be read")]
    Setting {
        /// The setting's path, as far as it is known.
        setting: String,
        /// What was expected.
        #[source]
        source: serde_json::Error,
    },
    /// A list stands where settings are named.
    #[error("{setting} must be an object of named settings, {{ … }}")]
    NotAnObject {
        /// The setting's path in the policy file.
        setting: String,
    },
    /// A rule names no message type.
    #[error(
        "{setting} is missing, so the rule would match no message. Name a message type exactly, or * for all types"
    )]
    NoMessageType {
        /// The setting's path in the policy file.
        setting: String,
    },
    /// A rule names its message types by a pattern.
    #[error("{setting} is {value}, and patterns match nothing. Give each message type a rule, or use * for all types")]
    Pattern {
        /// The setting's path in the policy file.
        setting: String,
        /// Its value.
        value: String,
    },
    /// The pattern of a link is not valid.
    #[error("{setting} is not a valid link pattern: {why}")]
    Link {
        /// The setting's path in the policy file.
        setting: &'static str,
        /// What it must be.
        why: &'static str,
    },
    /// An entry of `sign_in.revoked` names nobody, so it would revoke nothing.
    #[error("{setting} names nobody. Give a subject, a name or issued_before, or remove the entry")]
    RevokesNobody {
        /// The setting's path in the policy file.
        setting: String,
    },
    /// A number is out of range.
    #[error("{setting} is {value}; it must be between {min} and {max}")]
    OutOfRange {
        /// The setting's path in the policy file.
        setting: String,
        /// Its value.
        value: i128,
        /// The minimum.
        min: i128,
        /// The maximum.
        max: i128,
    },
}
