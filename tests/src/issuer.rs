//! A small local OIDC issuer, as strict as real ones: authorization code flow with PKCE for one public client, a sign-in
//! page, single-use codes, refresh tokens that rotate, and a key created at start.

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::to_hex;
use domain::time::{Span, Timestamp};
use reqwest::Url;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// The only client's ID.
pub const CLIENT: &str = "dead-letter-office";

/// How the issuer misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// It works correctly.
    #[default]
    None,
    /// Its codes and refresh tokens have expired when they are exchanged.
    ExpiredCodes,
    /// It redirects people back, and then stops responding.
    Unavailable,
    /// It returns the token of another sign-in.
    WrongNonce,
    /// It answers a refresh token with the ID token of another person.
    WrongPerson,
}

type Fields = HashMap<String, String>;

struct Inside {
    url: String,
    office: Mutex<String>,
    pair: EcdsaKeyPair,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    fault: Mutex<Fault>,
    /// The lifetime of ID tokens.
    token_lasts: Mutex<Span>,
    /// Refresh tokens that are not used yet, each with its person.
    refresh_tokens: Mutex<HashMap<String, String>>,
    /// Authorization requests without a person yet.
    requests: Mutex<HashMap<String, Fields>>,
    /// Codes that are not exchanged yet, each with its request and person.
    codes: Mutex<HashMap<String, (Fields, String)>>,
}

/// The issuer.
#[derive(Clone)]
pub struct Issuer(Arc<Inside>);

impl Issuer {
    /// Starts the issuer with the office's clock.
    pub async fn start(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &SystemRandom::new()).expect("a key");
        let issuer = Self(Arc::new(Inside {
            url: format!("http://{}", listener.local_addr().expect("an address")),
            office: Mutex::default(),
            pair,
            now: Box::new(now),
            fault: Mutex::default(),
            token_lasts: Mutex::new(Span::from_mins(60)),
            refresh_tokens: Mutex::default(),
            requests: Mutex::default(),
            codes: Mutex::default(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/login", post(log_in))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }

    /// Returns the issuer's URL, which is its identifier.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Registers the office's origin for redirects.
    pub fn register(&self, origin: &str) {
        *self.0.office.lock().expect("a lock") = origin.into();
    }

    /// Changes the misbehaviour.
    pub fn set(&self, fault: Fault) {
        *self.0.fault.lock().expect("a lock") = fault;
    }

    /// Changes the lifetime of ID tokens.
    pub fn set_token_lifetime(&self, lasts: Span) {
        *self.0.token_lasts.lock().expect("a lock") = lasts;
    }

    /// Returns a new refresh token for a person. It works once.
    pub fn refresh_token(&self, name: &str) -> String {
        let token = random();
        self.0.refresh_tokens.lock().expect("a lock").insert(token.clone(), name.into());
        token
    }

    /// Returns whether a refresh token can still be used.
    pub fn accepts(&self, refresh_token: &str) -> bool {
        self.0.refresh_tokens.lock().expect("a lock").contains_key(refresh_token)
    }

    /// Returns a token for a person. The name determines the role.
    pub fn token(&self, name: &str, nonce: &str) -> String {
        let role = match name {
            "otto" => json!(["staff", "operator"]),
            "vera" => json!(["viewer"]),
            "anna" => json!(["approver"]),
            _ => json!(["staff"]),
        };
        let now_s = (self.0.now)().as_ms() / 1000;
        let lasts_s = self.0.token_lasts.lock().expect("a lock").as_ms() / 1000;
        let claims = json!({ "iss": self.0.url, "aud": CLIENT, "sub": format!("sub-{name}"), "cognito:username": name,
            "cognito:groups": role, "nonce": nonce, "iat": now_s, "exp": now_s + lasts_s });
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "alg": "ES256", "kid": "k1", "typ": "JWT" })), part(&claims));
        let signature = self.0.pair.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn fault(&self) -> Fault {
        *self.0.fault.lock().expect("a lock")
    }

    fn page(&self) -> String {
        format!("{}/signin", self.0.office.lock().expect("a lock"))
    }
}

async fn discovery(State(Issuer(inside)): State<Issuer>) -> Json<Value> {
    let url = &inside.url;
    Json(json!({ "issuer": url, "jwks_uri": format!("{url}/keys"),
        "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token") }))
}

async fn keys(State(Issuer(inside)): State<Issuer>) -> Json<Value> {
    let point = inside.pair.public_key().as_ref();
    let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
    Json(json!({ "keys": [{ "kid": "k1", "kty": "EC", "crv": "P-256", "use": "sig", "x": x, "y": y }] }))
}

/// Shows the sign-in page if the request is valid.
async fn authorize(State(issuer): State<Issuer>, RawQuery(query): RawQuery) -> Response {
    let fields = fields(&query.unwrap_or_default());
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    let is_valid = field("response_type") == "code"
        && field("client_id") == CLIENT
        && field("redirect_uri") == issuer.page()
        && field("scope").split(' ').any(|word| word == "openid")
        && field("code_challenge_method") == "S256"
        && field("code_challenge").len() == 43
        && field("state").len() >= 32
        && field("nonce").len() >= 32;
    if !is_valid {
        return (StatusCode::BAD_REQUEST, format!("invalid authorization request: {fields:?}")).into_response();
    }
    let id = random();
    let page = format!(
        "<!doctype html><html lang=en><title>Issuer</title><h1>Who are you?</h1><form method=post action=/login>\
         <input type=hidden name=request value={id}><label>Name <input name=name></label>\
         <button name=do value=enter>Enter</button><button name=do value=refuse>Refuse</button></form>"
    );
    issuer.0.requests.lock().expect("a lock").insert(id, fields);
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

/// Redirects a person back with a code, or with an error if they refuse.
async fn log_in(State(issuer): State<Issuer>, body: String) -> Response {
    let form = fields(&body);
    let request = form.get("request").and_then(|id| issuer.0.requests.lock().expect("a lock").remove(id));
    let Some(request) = request else {
        return (StatusCode::BAD_REQUEST, "unknown authorization request").into_response();
    };
    let mut back = Url::parse(&request["redirect_uri"]).expect("a registered address");
    if form["do"] == "enter" {
        let code = random();
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &request["state"]);
        issuer.0.codes.lock().expect("a lock").insert(code, (request, form["name"].clone()));
    } else {
        let why = [("error", "access_denied"), ("error_description", "The person said no.")];
        back.query_pairs_mut().extend_pairs(why).append_pair("state", &request["state"]);
    }
    (StatusCode::SEE_OTHER, [(LOCATION, back.as_str())]).into_response()
}

/// Exchanges a code, once, if the caller proves that it started the sign-in.
async fn token(State(issuer): State<Issuer>, body: String) -> Response {
    let form = fields(&body);
    let field = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    if field("grant_type") == "refresh_token" && field("client_id") == CLIENT {
        return renew(&issuer, field("refresh_token"));
    }
    let code = issuer.0.codes.lock().expect("a lock").remove(field("code"));
    let is_proven = |(request, _): &(Fields, String)| {
        field("grant_type") == "authorization_code"
            && field("client_id") == CLIENT
            && field("redirect_uri") == request["redirect_uri"]
            && URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier"))) == request["code_challenge"]
    };
    if issuer.fault() == Fault::Unavailable {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    match code.filter(is_proven).filter(|_| issuer.fault() != Fault::ExpiredCodes) {
        Some((request, name)) => {
            let other = issuer.fault() == Fault::WrongNonce;
            let nonce = if other { random() } else { request["nonce"].clone() };
            let token = issuer.token(&name, &nonce);
            answer(token, &issuer.refresh_token(&name))
        }
        None => invalid_grant(),
    }
}

/// Exchanges a refresh token for the next tokens, once.
fn renew(issuer: &Issuer, refresh_token: &str) -> Response {
    let name = issuer.0.refresh_tokens.lock().expect("a lock").remove(refresh_token);
    match (name, issuer.fault()) {
        (_, Fault::Unavailable) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        (Some(_), Fault::WrongPerson) => answer(issuer.token("anna", ""), &issuer.refresh_token("anna")),
        (Some(_), Fault::ExpiredCodes) => invalid_grant(),
        (Some(name), _) => answer(issuer.token(&name, ""), &issuer.refresh_token(&name)),
        (None, _) => invalid_grant(),
    }
}

fn answer(id_token: String, refresh_token: &str) -> Response {
    let tokens = json!({ "id_token": id_token, "access_token": random(), "refresh_token": refresh_token,
        "token_type": "Bearer" });
    Json(tokens).into_response()
}

fn invalid_grant() -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response()
}

fn fields(text: &str) -> Fields {
    let url = Url::parse(&format!("http://form/?{text}")).expect("a form");
    url.query_pairs().into_owned().collect()
}

fn random() -> String {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).expect("random numbers");
    to_hex(&bytes)
}
