//! Sign-in on one machine: one-time links, one per role, exchanged for a session in one browser tab.
//!
//! The office listens on the loopback only and prints the links on the terminal of the person who started it. Codes exist
//! only in memory: a restart prints new links. Sessions go on after it, from a file with the hashes of their tokens.

mod kept;

pub use kept::FILE;

use async_trait::async_trait;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, State};
use axum::http::HeaderMap;
use domain::id::{Actor, to_hex};
use domain::person::{Person, PersonId};
use domain::role::{Permission, Role};
use domain::time::{Span, Timestamp};
use office::api::{Api, ApiError, Caller, Door, Endpoint, Identify, token};
use office::person::{NameError, named};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::{ErrorCode, SessionAnswer, SignInAnswer, SignInRequest};

/// How long an unused link is valid.
const LINK_LASTS: Span = Span::from_mins(24 * 60);
/// How long a session is valid: a working day.
const SESSION_LASTS: Span = Span::from_mins(12 * 60);
/// The most links, and the most sessions, in memory. Above that the oldest are removed.
const GRANTS_MAX: usize = 1_000;
/// The largest request that exchanges a code, bytes. A code has 32 characters.
const CODE_BYTES_MAX: usize = 1024;

/// The environment variables in which operating systems name their user.
const USER_VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];
/// The name of a user whom the operating system does not name.
const NAMELESS: &str = "owner";

/// The people of the demo, one for each role.
const PEOPLE: [(Role, &str); 4] =
    [(Role::Viewer, "vera"), (Role::Operator, "otto"), (Role::Approver, "anna"), (Role::Admin, "ada")];

struct Grant {
    caller: Caller,
    until: Timestamp,
}

/// Unused links and valid sessions, by the hash of their secret.
pub struct Sessions {
    people: Vec<(Role, Person)>,
    links: Mutex<HashMap<String, Grant>>,
    sessions: Mutex<HashMap<String, Grant>>,
    /// The folder with the file of the sessions; `None` if they end with this process.
    folder: Option<PathBuf>,
}

/// A link's code and the person it signs in.
#[derive(Debug)]
pub struct Link {
    /// The code.
    pub code: String,
    /// The person.
    pub caller: Caller,
}

/// The machine provides no random numbers, so no secret can be created.
#[derive(Debug, thiserror::Error)]
#[error("this machine provides no random numbers, so sign-in would not be safe")]
pub struct NoRandomness(#[source] getrandom::Error);

/// Returns the name of the person who uses this machine: the given one, or that of the operating system's user.
pub fn user(given: Option<&str>) -> Result<Actor, NameError> {
    let own = || USER_VARIABLES.into_iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    named(&given.map(String::from).or_else(own).unwrap_or_else(|| NAMELESS.into()))
}

impl Sessions {
    /// Creates sessions for the people of the demo, who do not exist.
    pub fn of_demo() -> Self {
        let person =
            |(role, name): (Role, &str)| (role, Person { name: name.into(), id: Some(PersonId::of_demo(name)) });
        Self::for_people(PEOPLE.map(person).into())
    }

    /// Creates sessions for an office that is one person's, with a link for each of these roles.
    pub fn of_user(name: &Actor, roles: &[Role]) -> Self {
        let person = Person { name: name.clone(), id: Some(PersonId::of_machine(name.as_str())) };
        let people = roles.iter().map(|role| (*role, person.clone())).collect();
        Self::for_people(people)
    }

    fn for_people(people: Vec<(Role, Person)>) -> Self {
        Self { people, links: Mutex::default(), sessions: Mutex::default(), folder: None }
    }

    /// Goes on with the sessions of an earlier run, and keeps them in this folder from now on.
    #[must_use]
    pub fn kept_in(self, folder: &Path) -> Self {
        let sessions = kept::read(folder, &self.people);
        // Those that are dropped must not come back with a later start.
        kept::write(folder, &sessions);
        Self { sessions: Mutex::new(sessions), folder: Some(folder.into()), ..self }
    }

    /// Creates a new link for each role.
    pub fn new_links(&self, now: Timestamp) -> Result<Vec<Link>, NoRandomness> {
        self.people.iter().map(|(role, person)| self.new_link(*role, person, now)).collect()
    }

    fn new_link(&self, role: Role, person: &Person, now: Timestamp) -> Result<Link, NoRandomness> {
        let code = secret()?;
        let Person { name: actor, id } = person.clone();
        let caller = Caller { actor, role, id, signed_in_at: None };
        insert(&mut lock(&self.links), &code, Grant { caller: caller.clone(), until: now.plus(LINK_LASTS) }, now);
        Ok(Link { code, caller })
    }

    /// Exchanges a link's code for a session. A code works once.
    fn redeem(&self, code: &str, now: Timestamp) -> Result<Option<(String, Grant)>, NoRandomness> {
        let Some(link) = lock(&self.links).remove(&hash(code)).filter(|grant| grant.until > now) else {
            return Ok(None);
        };
        let token = secret()?;
        let caller = Caller { signed_in_at: Some(now), ..link.caller };
        let grant = || Grant { caller: caller.clone(), until: now.plus(SESSION_LASTS) };
        self.change(|sessions| insert(sessions, &token, grant(), now));
        Ok(Some((token, grant())))
    }

    fn end(&self, token: &str) {
        self.change(|sessions| drop(sessions.remove(&hash(token))));
    }

    /// Changes the sessions, and writes them before the change is answered.
    fn change(&self, change: impl FnOnce(&mut HashMap<String, Grant>)) {
        let mut sessions = lock(&self.sessions);
        change(&mut sessions);
        if let Some(folder) = &self.folder {
            kept::write(folder, &sessions);
        }
    }
}

#[async_trait]
impl Identify for Sessions {
    async fn who(&self, token: &str, now: Timestamp) -> Option<Caller> {
        let sessions = lock(&self.sessions);
        sessions.get(&hash(token)).filter(|grant| grant.until > now).map(|grant| grant.caller.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds one of these locks, and the map would be valid even then.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn insert(grants: &mut HashMap<String, Grant>, secret: &str, grant: Grant, now: Timestamp) {
    grants.retain(|_, grant| grant.until > now);
    while grants.len() >= GRANTS_MAX {
        let Some(oldest) = grants.iter().min_by_key(|(_, g)| g.until).map(|(key, _)| key.clone()) else { break };
        grants.remove(&oldest);
    }
    grants.insert(hash(secret), grant);
}

/// Returns 128 random bits in hex.
fn secret() -> Result<String, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(to_hex(&bytes))
}

/// Hashes a secret. Looking up by hash leaks nothing through the duration of a comparison.
fn hash(secret: &str) -> String {
    to_hex(&Sha256::digest(secret.as_bytes()))
}

/// Returns the sign-in endpoints of an office on one machine.
pub fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<SignInAnswer, _>("/session", "Describe how to sign in", way_in).for_everybody(),
        Endpoint::post::<SignInRequest, SessionAnswer, _>(
            "/session",
            None,
            "Exchange a one-time code for a session",
            sign_in,
        )
        .with_body_bytes_max(CODE_BYTES_MAX),
        Endpoint::delete::<SignOutAnswer, _>("/session", Permission::View, "End the session", sign_out),
    ]
}

/// The response to signing out.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct SignOutAnswer {
    ended: bool,
}

async fn way_in() -> Json<SignInAnswer> {
    Json(SignInAnswer::default())
}

async fn sign_in(
    State(api): State<Api>,
    Extension(sessions): Extension<Arc<Sessions>>,
    Extension(door): Extension<Arc<Door>>,
    request: Result<Json<SignInRequest>, JsonRejection>,
) -> Result<Json<SessionAnswer>, ApiError> {
    let Json(request) = request?;
    let redeemed = sessions.redeem(request.code.trim(), api.office.now()).map_err(|error| ApiError {
        log: Some(office::error::chain(&error)),
        ..ApiError::new(ErrorCode::Internal, "This machine cannot create a safe session now. Try again.")
    })?;
    let Some((token, grant)) = redeemed else {
        let message = "This link was already used, or has expired.";
        return Err(door.refuse(&api, "unknown, used or expired link", message).await);
    };
    let caller = match door.welcome(&api, grant.caller).await {
        Ok(caller) => caller,
        Err(error) => {
            sessions.end(&token);
            return Err(error);
        }
    };
    Ok(Json(SessionAnswer {
        token,
        expires_at: grant.until,
        lasts_ms: SESSION_LASTS,
        me: api.current().await?.me(&caller),
        refresh: None,
    }))
}

async fn sign_out(Extension(sessions): Extension<Arc<Sessions>>, headers: HeaderMap) -> Json<SignOutAnswer> {
    if let Some(token) = token(&headers) {
        sessions.end(&token);
    }
    Json(SignOutAnswer { ended: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::person::IdentityKind;

    const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    /// Returns the folder of an office, and what deletes it.
    fn office_folder() -> (PathBuf, tempfile::TempDir) {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("office");
        crate::private::create_folder(&folder).unwrap();
        (folder, outer)
    }

    #[test]
    fn a_link_works_once() {
        let sessions = Sessions::of_demo();
        let links = sessions.new_links(NOW).unwrap();
        assert_eq!(links.len(), 4);
        assert!(sessions.redeem(&links[0].code, NOW).unwrap().is_some());
        assert!(sessions.redeem(&links[0].code, NOW).unwrap().is_none());
        assert!(sessions.redeem("guessed", NOW).unwrap().is_none());
    }

    #[test]
    fn an_old_link_does_not_work() {
        let sessions = Sessions::of_demo();
        let links = sessions.new_links(NOW).unwrap();
        assert!(sessions.redeem(&links[1].code, NOW.plus(LINK_LASTS)).unwrap().is_none());
    }

    #[tokio::test]
    async fn a_session_has_the_role_of_its_link_until_it_ends() {
        let sessions = Sessions::of_demo();
        let link = sessions.new_links(NOW).unwrap().remove(2);
        let (token, _) = sessions.redeem(&link.code, NOW).unwrap().unwrap();
        let caller = Caller { signed_in_at: Some(NOW), ..link.caller };
        assert_eq!(sessions.who(&token, NOW).await, Some(caller));
        assert_eq!(sessions.who(&token, NOW.plus(SESSION_LASTS)).await, None);
        sessions.end(&token);
        assert_eq!(sessions.who(&token, NOW).await, None);
        assert_eq!(sessions.who(&link.code, NOW).await, None, "a code is not a token");
    }

    #[tokio::test]
    async fn a_session_goes_on_after_a_restart_and_a_sign_out_stays() {
        let (folder, _outer) = office_folder();
        let start = || Sessions::of_demo().kept_in(&folder);
        let (first, mut tokens) = (start(), Vec::new());
        for link in first.new_links(NOW).unwrap() {
            tokens.push(first.redeem(&link.code, NOW).unwrap().unwrap().0);
        }
        first.end(&tokens[0]);
        let anna = first.who(&tokens[2], NOW).await;
        assert!(anna.is_some());

        let second = start();
        assert_eq!(second.who(&tokens[2], NOW).await, anna);
        assert_eq!(second.who(&tokens[0], NOW).await, None, "signed out before the restart");
        assert_eq!(second.who(&tokens[2], NOW.plus(SESSION_LASTS)).await, None);

        let text = std::fs::read_to_string(folder.join(FILE)).unwrap();
        assert!(tokens.iter().all(|token| !text.contains(token.as_str())), "no token is in the file");
    }

    #[tokio::test]
    async fn sessions_of_another_person_or_role_end_with_the_restart() {
        let (folder, _outer) = office_folder();
        let start = |name: &str, roles: &[Role]| Sessions::of_user(&name.into(), roles).kept_in(&folder);
        let first = start("maria", &Role::ALL);
        let links = first.new_links(NOW).unwrap();
        let [viewer, admin] = [&links[0], &links[3]].map(|it| first.redeem(&it.code, NOW).unwrap().unwrap().0);

        let read_only = start("maria", &[Role::Viewer]);
        assert!(read_only.who(&viewer, NOW).await.is_some());
        assert_eq!(read_only.who(&admin, NOW).await, None);
        assert_eq!(start("maria", &Role::ALL).who(&admin, NOW).await, None, "it does not come back");
        assert_eq!(start("otto", &Role::ALL).who(&viewer, NOW).await, None);

        std::fs::write(folder.join(FILE), "[{").unwrap();
        assert_eq!(start("maria", &Role::ALL).who(&viewer, NOW).await, None, "a damaged file counts as empty");
    }

    #[tokio::test]
    async fn a_sign_out_that_cannot_be_written_stays() {
        let (folder, _outer) = office_folder();
        let start = || Sessions::of_demo().kept_in(&folder);
        let first = start();
        let links = first.new_links(NOW).unwrap();
        let [token, other] = [&links[0], &links[1]].map(|it| first.redeem(&it.code, NOW).unwrap().unwrap().0);
        // Nothing can be written over a folder.
        let blocked = folder.join("sessions.json.new");
        std::fs::create_dir(&blocked).unwrap();
        first.end(&token);
        std::fs::remove_dir(&blocked).unwrap();
        let second = start();
        assert_eq!(second.who(&token, NOW).await, None);
        assert_eq!(second.who(&other, NOW).await, None, "it signs in again");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn no_session_is_kept_in_a_folder_of_others() {
        let (folder, _outer) = office_folder();
        let first = Sessions::of_demo().kept_in(&folder);
        let link = first.new_links(NOW).unwrap().remove(0);
        let (token, _) = first.redeem(&link.code, NOW).unwrap().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o775);
        std::fs::set_permissions(&folder, open).unwrap();
        assert_eq!(Sessions::of_demo().kept_in(&folder).who(&token, NOW).await, None);
        assert!(!folder.join(FILE).exists());
    }

    #[tokio::test]
    async fn signing_out_ends_the_session_whichever_header_has_the_token() {
        let sessions = Arc::new(Sessions::of_demo());
        for header in ["authorization", wire::TOKEN_HEADER] {
            let link = sessions.new_links(NOW).unwrap().remove(0);
            let (token, _) = sessions.redeem(&link.code, NOW).unwrap().unwrap();
            let headers = [(header, format!("Bearer {token}"))].map(|(name, value)| {
                (axum::http::HeaderName::from_static(name), axum::http::HeaderValue::try_from(value).unwrap())
            });
            let _ = sign_out(Extension(sessions.clone()), headers.into_iter().collect()).await;
            assert_eq!(sessions.who(&token, NOW).await, None, "{header}");
        }
    }

    #[test]
    fn the_number_of_links_is_limited() {
        let sessions = Sessions::of_demo();
        for at in 0..(GRANTS_MAX as i64 / 4 + 10) {
            sessions.new_links(NOW.plus(Span::from_ms(at))).unwrap();
        }
        assert!(lock(&sessions.links).len() <= GRANTS_MAX);
    }

    #[test]
    fn links_of_one_person_carry_one_name_and_one_identity() {
        let sessions = Sessions::of_user(&"maria".into(), &Role::ALL);
        let links = sessions.new_links(NOW).unwrap();
        assert_eq!(links.iter().map(|link| link.caller.role).collect::<Vec<_>>(), Role::ALL);
        for link in &links {
            assert_eq!(link.caller.actor.as_str(), "maria");
            assert_eq!(link.caller.id, Some(PersonId::of_machine("maria")));
        }
        let demo = Sessions::of_demo().new_links(NOW).unwrap();
        let kinds: Vec<_> = demo.iter().map(|link| link.caller.person().kind()).collect();
        assert_eq!(kinds, [IdentityKind::Demo; 4]);
    }

    #[test]
    fn a_user_has_a_name_and_none_that_is_reserved() {
        assert_eq!(user(Some(" maria ")), Ok("maria".into()));
        assert_eq!(user(Some("Office")), Err(NameError::Reserved));
        assert_eq!(user(Some("")), Err(NameError::Empty));
        assert!(user(None).is_ok_and(|name| !name.as_str().is_empty()));
    }
}
