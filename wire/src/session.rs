//! Who is asking.

use alloc::string::String;
use alloc::vec::Vec;
use domain::id::Actor;
use domain::role::{Permission, Role};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A one-time code, given in exchange for a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The code of the link that the terminal printed.
    pub code: String,
}

/// How people come in here: what a page has to know before anybody is signed in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayIn {
    /// The address of the OIDC issuer that people are sent to, with what every sign-in asks of it; a page adds
    /// `redirect_uri`, `state`, `nonce` and `code_challenge`. None where people come by one-time links.
    pub issuer: Option<String>,
}

/// What somebody brings back from the issuer, in exchange for a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComeBack {
    /// The issuer's code.
    pub code: String,
    /// The page that it was brought to, as the issuer was told.
    pub page: String,
    /// What only the tab that began the sign-in knows: the issuer was told its SHA-256 (PKCE).
    pub verifier: String,
    /// What the token has to say.
    pub nonce: String,
}

/// A session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// Goes into the header `Authorization: Bearer <token>`.
    pub token: String,
    /// Until when it is good.
    pub expires_at: Timestamp,
    /// Who it is for.
    pub me: Me,
}

/// Who is asking, and what they may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Me {
    /// The name that the audit shows.
    pub name: Actor,
    /// The role.
    pub role: Role,
    /// What the role may do.
    pub permissions: Vec<Permission>,
    /// What the office is called on its pages, for example `demo on this machine`.
    pub office: String,
}
