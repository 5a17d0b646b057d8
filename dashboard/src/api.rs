//! The office's API: one function per endpoint, errors kept as the server gave them.

mod error;
mod http;
pub mod json;

pub use error::ApiError;
pub use http::{Answer, Seen};

use dashboard_model::route::encode;
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::replay::OutcomeKind;
use domain::time::Timestamp;
use domain::transform::{DryRun, Transform};
use http::{delete, file, get, path, post};
use wire::{
    ApproveRequest, AuditPage, IssuerSignInRequest, DeclareFixRequest, DryRunRequest, EntriesPage, GroupDetail, GroupsAnswer,
    LetterDetail, LettersPage, Me, NoteRequest, PlanRequest, PlanView, PreviewTransformRequest, ReasonRequest, ReleaseRequest,
    ReplayView, ReplaysAnswer, ResumeRequest, SaveTransformRequest, Session, SignInRequest, TransformPreview,
    TransformsAnswer, UnmergeRequest,
};

type Fetched<T> = Result<Answer<T>, ApiError>;
type Done<T> = Result<T, ApiError>;

/// The issuer that people sign in at; none where they come by links.
pub async fn way_in() -> Done<Option<String>> {
    Ok(json::text(&file("/session").await?, "issuer"))
}

/// Exchanges a one-time code for a session.
pub async fn sign_in(code: String) -> Done<Session> {
    post("/session", &SignInRequest { code }).await
}

/// Exchanges an issuer's code for a session.
pub async fn come_back(ask: IssuerSignInRequest) -> Done<Session> {
    post("/session/code", &ask).await
}

/// Ends the session.
pub async fn sign_out() -> Done<()> {
    delete("/session").await
}

/// Who is asking.
pub async fn me(seen: Seen) -> Fetched<Me> {
    get("/me", &seen).await
}

/// The list of groups, in the order of attention.
pub async fn groups(seen: Seen) -> Fetched<GroupsAnswer> {
    get("/groups", &seen).await
}

/// One group.
pub async fn group(id: GroupId, seen: Seen) -> Fetched<GroupDetail> {
    get(&path(&["groups", id.as_str()]), &seen).await
}

/// A page of a group's letters that fit.
pub async fn letters(
    id: GroupId,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    cursor: Option<String>,
    seen: Seen,
) -> Fetched<LettersPage> {
    let LetterFilter { message_type, tenant, died_from, died_before, replays_max } = filter;
    let moment = |at: Option<Timestamp>| at.map(|at| at.as_ms().to_string());
    let query = query(&[
        ("state", state.map(|state| state.as_str().to_string())),
        ("message_type", message_type),
        ("tenant", tenant),
        ("died_from", moment(died_from)),
        ("died_before", moment(died_before)),
        ("replays_max", replays_max.map(|max| max.to_string())),
        ("cursor", cursor),
    ]);
    get(&format!("{}{query}", path(&["groups", id.as_str(), "letters"])), &seen).await
}

/// One letter.
pub async fn letter(id: LetterId, seen: Seen) -> Fetched<LetterDetail> {
    get(&path(&["letters", id.as_str()]), &seen).await
}

/// A page of a group's audit, newest first.
pub async fn audit(id: GroupId, cursor: Option<String>, seen: Seen) -> Fetched<AuditPage> {
    let query = query(&[("cursor", cursor)]);
    get(&format!("{}{query}", path(&["groups", id.as_str(), "audit"])), &seen).await
}

/// A history as a file; the form is `csv` or `jsonl`.
pub async fn history(path: String, form: &'static str) -> Done<String> {
    file(&format!("{path}?form={form}")).await
}

/// Says that the cause is gone.
pub async fn declare_fix(id: GroupId, ask: DeclareFixRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "fix"]), &ask).await
}

/// Takes that back.
pub async fn withdraw_fix(id: GroupId, ask: ReasonRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "fix", "withdraw"]), &ask).await
}

/// The versions of a group's payload transform, newest first.
pub async fn transforms(id: GroupId) -> Done<TransformsAnswer> {
    let answer = get(&path(&["groups", id.as_str(), "transform"]), &Seen::default()).await?;
    // Nothing was seen before, so something is always told.
    Ok(answer.into_new().unwrap_or_else(|| TransformsAnswer { versions: Vec::new() }))
}

/// Saves another version of it.
pub async fn save_transform(id: GroupId, ask: SaveTransformRequest) -> Done<Transform> {
    post(&path(&["groups", id.as_str(), "transform"]), &ask).await
}

/// What a program would change.
pub async fn try_transform(id: GroupId, ask: PreviewTransformRequest) -> Done<TransformPreview> {
    post(&path(&["groups", id.as_str(), "transform", "preview"]), &ask).await
}

/// Tries a version over another page of the letters that wait.
pub async fn dry_run(id: GroupId, ask: DryRunRequest) -> Done<DryRun> {
    post(&path(&["groups", id.as_str(), "transform", "dry-run"]), &ask).await
}

/// Writes or removes the note.
pub async fn note(id: GroupId, ask: NoteRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "note"]), &ask).await
}

/// Takes a fingerprint out of the group.
pub async fn take_out(id: GroupId, ask: UnmergeRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "part"]), &ask).await
}

/// Lets a fingerprint that was taken out be merged again.
pub async fn rejoin(id: GroupId, ask: ReasonRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "rejoin"]), &ask).await
}

/// Lets all letters of a group out of quarantine.
pub async fn release(id: GroupId, ask: ReleaseRequest) -> Done<GroupDetail> {
    post(&path(&["groups", id.as_str(), "release"]), &ask).await
}

/// Makes a plan of the letters that wait.
pub async fn plan(id: GroupId, ask: PlanRequest) -> Done<PlanView> {
    post(&path(&["groups", id.as_str(), "plan"]), &ask).await
}

/// Approves the group's plan and starts its replay.
pub async fn approve(id: GroupId, ask: ApproveRequest) -> Done<ReplayView> {
    post(&path(&["groups", id.as_str(), "approve"]), &ask).await
}

/// The replays, newest first.
pub async fn replays(cursor: Option<String>, seen: Seen) -> Fetched<ReplaysAnswer> {
    get(&format!("/replays{}", query(&[("cursor", cursor)])), &seen).await
}

/// One replay.
pub async fn replay(id: ReplayId, seen: Seen) -> Fetched<ReplayView> {
    get(&path(&["replays", id.as_str()]), &seen).await
}

/// A page of a replay's letters.
pub async fn entries(
    id: ReplayId,
    outcome: Option<OutcomeKind>,
    wave: Option<u32>,
    cursor: Option<String>,
    seen: Seen,
) -> Fetched<EntriesPage> {
    let query = query(&[
        ("outcome", outcome.map(|outcome| outcome.as_str().to_string())),
        ("wave", wave.map(|wave| wave.to_string())),
        ("cursor", cursor),
    ]);
    get(&format!("{}{query}", path(&["replays", id.as_str(), "entries"])), &seen).await
}

/// Pauses a replay: what is in flight is still observed.
pub async fn pause(id: ReplayId, ask: ReasonRequest) -> Done<ReplayView> {
    post(&path(&["replays", id.as_str(), "pause"]), &ask).await
}

/// Ends a replay.
pub async fn abort(id: ReplayId, ask: ReasonRequest) -> Done<ReplayView> {
    post(&path(&["replays", id.as_str(), "abort"]), &ask).await
}

/// Lets a paused replay go on.
pub async fn resume(id: ReplayId, ask: ResumeRequest) -> Done<ReplayView> {
    post(&path(&["replays", id.as_str(), "resume"]), &ask).await
}

fn query(pairs: &[(&str, Option<String>)]) -> String {
    let pairs = pairs.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    let text: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if text.is_empty() { String::new() } else { format!("?{}", text.join("&")) }
}
