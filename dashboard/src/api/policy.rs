//! The policy's endpoints. Policies are texts here: typed, all their settings would add to the download.

use super::error::ApiError;
use super::http::{file, send_text};
use super::query;
use crate::json;
use domain::id::Actor;
use domain::policy::PolicyChange;
use domain::time::Timestamp;
use gloo_net::http::Method;
use js_sys::{Array, JSON, Reflect};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wire::PolicyCheckAnswer;

/// A version of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PolicyText {
    /// Its number; 0 for the deployment's.
    pub version: u64,
    /// Who wrote it; `None` for the deployment's.
    pub by: Option<Actor>,
    /// When it was written; `None` for the deployment's.
    pub at: Option<Timestamp>,
    /// The reason that the person gave; `None` for the deployment's.
    pub reason: Option<String>,
    /// The settings that it changed; empty where they are not asked for.
    #[serde(default)]
    pub changes: Vec<PolicyChange>,
    /// The policy as JSON, indented by two blanks.
    #[serde(skip)]
    pub text: String,
}

/// A page of versions, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyVersions {
    /// The versions.
    pub versions: Vec<PolicyText>,
    /// The `before` of the next page; `None` on the last page.
    pub next: Option<u64>,
}

#[derive(Deserialize)]
struct Next {
    next: Option<u64>,
}

fn unexpected(detail: String) -> ApiError {
    ApiError::Unexpected { status: 200, detail }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, ApiError> {
    json::read(text).map_err(|error| unexpected(error.to_string()))
}

/// Returns a member of an object of the browser.
fn member(value: &JsValue, name: &str) -> Result<JsValue, ApiError> {
    Reflect::get(value, &name.into()).map_err(|_| unexpected(format!("no {name}")))
}

fn printed(value: &JsValue, blanks: u32) -> Result<String, ApiError> {
    let text = JSON::stringify_with_replacer_and_space(value, &JsValue::NULL, &blanks.into());
    Ok(text.map_err(|_| unexpected("not JSON".to_string()))?.into())
}

/// Reads a version. The browser keeps the order of the settings.
fn version(value: &JsValue) -> Result<PolicyText, ApiError> {
    let text = printed(&member(value, "policy")?, 2)?;
    Ok(PolicyText { text, ..read(&printed(value, 0)?)? })
}

fn parsed(text: &str) -> Result<JsValue, ApiError> {
    JSON::parse(text).map_err(|_| unexpected("not JSON".to_string()))
}

/// Returns the policy that applies.
pub async fn policy() -> Result<PolicyText, ApiError> {
    version(&parsed(&file("/policy").await?)?)
}

/// Returns a page of the versions, before a version or the newest.
pub async fn policy_history(before: Option<u64>) -> Result<PolicyVersions, ApiError> {
    let query = query(&[("before", before.map(|before| before.to_string()))]);
    let text = file(&format!("/policy/history{query}")).await?;
    let rows: Array = member(&parsed(&text)?, "versions")?.unchecked_into();
    let versions = rows.iter().map(|row| version(&row)).collect::<Result<_, _>>()?;
    Ok(PolicyVersions { versions, next: read::<Next>(&text)?.next })
}

/// Says what a policy would change, and why it would be refused. `text` is JSON.
pub async fn check_policy(text: &str) -> Result<PolicyCheckAnswer, ApiError> {
    let body = format!("{{\"policy\":{text}}}");
    read(&send_text(Method::POST, "/policy/check", body).await?)
}

/// Writes the next version over the one that its author has read. `text` is JSON.
pub async fn change_policy(text: &str, over: u64, reason: &str) -> Result<PolicyText, ApiError> {
    let reason = serde_json::to_string(reason).unwrap_or_default();
    let body = format!("{{\"policy\":{text},\"version\":{over},\"reason\":{reason}}}");
    version(&parsed(&send_text(Method::PUT, "/policy", body).await?)?)
}
