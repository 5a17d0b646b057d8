//! Sessions and sign-in.

use alloc::string::String;
use alloc::vec::Vec;
use domain::id::Actor;
use domain::person::IdentityKind;
use domain::role::{Permission, Role};
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

/// A one-time code, given in exchange for a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignInRequest {
    /// The code from the link that the terminal printed.
    pub code: String,
}

/// How users sign in: the information that a page needs before sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignInAnswer {
    /// The URL of the OIDC issuer with the parameters common to every sign-in; the page adds `redirect_uri`, `state`,
    /// `nonce` and `code_challenge`. `None` if users sign in with one-time links.
    pub issuer: Option<String>,
}

/// The values that a user brings back from the issuer, in exchange for a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IssuerSignInRequest {
    /// The issuer's code.
    pub code: String,
    /// The page that the issuer redirected to, exactly as in the request.
    pub page: String,
    /// The secret of the tab that started the sign-in; the issuer received its SHA-256 (PKCE).
    pub verifier: String,
    /// The nonce that the token must contain.
    pub nonce: String,
}

/// A refresh token, in exchange for a new session of the same user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RefreshRequest {
    /// The refresh token.
    pub refresh: String,
    /// The token of the session that it continues. It may have expired less than a day ago.
    pub token: String,
}

/// A session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionAnswer {
    /// The token for the header `Authorization: Bearer <token>`.
    pub token: String,
    /// When the session expires.
    pub expires_at: Timestamp,
    /// How long the session is valid from now on, milliseconds. Unlike `expires_at`, it does not depend on the clock of
    /// the caller.
    pub lasts_ms: Span,
    /// The user of the session.
    pub me: MeAnswer,
    /// The issuer's refresh token, in exchange for the next session. `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
}

/// The current user and their permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeAnswer {
    /// The name in the audit log.
    pub name: Actor,
    /// The role.
    pub role: Role,
    /// The permissions of the role.
    pub permissions: Vec<Permission>,
    /// The office's name on its pages, for example `demo on this machine`.
    pub office: String,
    /// What the sign-in proves about who the user is.
    #[serde(default)]
    pub identity: IdentityKind,
    /// After this time without input the dashboard signs the user out, milliseconds. `None` for never.
    #[serde(default)]
    pub idle_ms: Option<Span>,
}
