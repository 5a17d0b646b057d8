//! The office's API: one function per endpoint. Errors keep the server's code and message.

mod error;
mod http;
mod policy;
mod renew;
mod transport;

pub use error::ApiError;
pub use http::{Answer, Seen};
pub use policy::{PolicyText, PolicyVersions, change_policy, check_policy, policy, policy_history};

use crate::json;
use dashboard_model::route::{GroupsRoute, encode};
use dashboard_model::view::View;
use domain::facet::Facets;
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::replay::OutcomeKind;
use domain::time::Timestamp;
use domain::transform::{DryRun, Transform};
use http::{delete, file, get, path, post, remove};
use transport::exchange;
use wire::{
    ApproveRequest, AuditAnswer, DeclareFixRequest, DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest,
    DryRunRequest, EntriesAnswer, GroupAnswer, GroupsAnswer, IssuerSignInRequest, LetterAnswer, LettersAnswer,
    LookInLogsRequest, MeAnswer, NoteRequest, OwnerRequest, PlanRequest, PlanningAnswer, PreviewTransformRequest,
    ReasonRequest, ReleaseRequest, ReplayAnswer, ReplaysAnswer, ResumeRequest, SaveTransformRequest, SessionAnswer,
    SignInRequest, TransformPreviewAnswer, TransformsAnswer, UndoDiscardRequest, UnmergeRequest,
};

type Fetched<T> = Result<Answer<T>, ApiError>;
type Done<T> = Result<T, ApiError>;

/// Returns the issuer's sign-in URL, or `None` if the office uses one-time links.
pub async fn issuer() -> Done<Option<String>> {
    Ok(json::text(&file("/session").await?, "issuer"))
}

/// Exchanges a one-time code for a session.
pub async fn sign_in(code: String) -> Done<SessionAnswer> {
    exchange("/session", &SignInRequest { code }).await
}

/// Exchanges an issuer's code for a session.
pub async fn exchange_code(request: IssuerSignInRequest) -> Done<SessionAnswer> {
    exchange("/session/code", &request).await
}

/// Ends the session.
pub async fn sign_out() -> Done<()> {
    delete("/session").await
}

/// Returns the signed-in person.
pub async fn me(seen: Seen) -> Fetched<MeAnswer> {
    get("/me", &seen).await
}

/// Returns the groups in attention order, or those that a query asks for; only what has changed if the reader names the
/// version that it has.
pub async fn groups(asked: Option<GroupsRoute>, since: Option<String>, seen: Seen) -> Fetched<GroupsAnswer> {
    let is_asked = asked.is_some();
    let GroupsRoute { q, view, sort, dir, .. } = asked.unwrap_or_default();
    let query = query(&[
        ("q", Some(q).filter(|q| !q.is_empty())),
        ("view", is_asked.then(|| view.as_str().to_string())),
        ("sort", is_asked.then(|| sort.as_str().to_string())),
        ("dir", dir.map(|dir| dir.as_str().to_string())),
        ("since", since.filter(|version| !version.is_empty())),
    ]);
    get(&format!("/groups{query}"), &seen).await
}

/// Returns how many groups wait for the reader's approval.
pub async fn for_me(seen: Seen) -> Fetched<u64> {
    let path = format!("/groups?view={}&limit=1", View::ForMe.as_str());
    let answer: Answer<GroupsAnswer> = get(&path, &seen).await?;
    Ok(match answer {
        Answer::Same => Answer::Same,
        Answer::New(answer) => Answer::New(answer.summary.for_me),
    })
}

/// Returns one group.
pub async fn group(id: GroupId, seen: Seen) -> Fetched<GroupAnswer> {
    get(&path(&["groups", id.as_str()]), &seen).await
}

/// Returns a page of a group's letters that match the state and the filter.
pub async fn letters(
    id: GroupId,
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    cursor: Option<String>,
    seen: Seen,
) -> Fetched<LettersAnswer> {
    // A page that is asked for is as large as it may be.
    let limit = cursor.is_some().then(|| domain::limits::PAGE_MAX.to_string());
    let query = letters_query(state, filter, [("cursor", cursor), ("limit", limit)]);
    get(&format!("{}{query}", path(&["groups", id.as_str(), "letters"])), &seen).await
}

/// Returns the path of the file of a group's letters that match the state and the filter.
pub fn letters_file(id: &GroupId, state: Option<LetterStateKind>, filter: LetterFilter) -> String {
    let query = letters_query(state, filter, [("cursor", None), ("limit", None)]);
    format!("{}{query}", path(&["groups", id.as_str(), "letters", "file"]))
}

fn letters_query(
    state: Option<LetterStateKind>,
    filter: LetterFilter,
    [cursor, limit]: [(&str, Option<String>); 2],
) -> String {
    let LetterFilter { message_type, tenant, died_from, died_before, replays_max } = filter;
    let ms = |at: Option<Timestamp>| at.map(|at| at.as_ms().to_string());
    query(&[
        ("state", state.map(|state| state.as_str().to_string())),
        ("message_type", message_type),
        ("tenant", tenant),
        ("died_from", ms(died_from)),
        ("died_before", ms(died_before)),
        ("replays_max", replays_max.map(|max| max.to_string())),
        cursor,
        limit,
    ])
}

/// Returns what the letters of a group share.
pub async fn facets(id: GroupId) -> Done<Facets> {
    let answer = get(&path(&["groups", id.as_str(), "facets"]), &Seen::default()).await?;
    // Without an `ETag` the server never answers 304.
    Ok(answer.into_new().unwrap_or_default())
}

/// Returns one letter.
pub async fn letter(id: LetterId, seen: Seen) -> Fetched<LetterAnswer> {
    get(&path(&["letters", id.as_str()]), &seen).await
}

/// Returns a page of a group's audit log, newest first; without views of payloads if `views` is false.
pub async fn audit(id: GroupId, views: bool, cursor: Option<String>, seen: Seen) -> Fetched<AuditAnswer> {
    let query = query(&[("views", (!views).then(|| "false".to_string())), ("cursor", cursor)]);
    get(&format!("{}{query}", path(&["groups", id.as_str(), "audit"])), &seen).await
}

/// Downloads a file of rows. The path may have a query. The format is `csv` or `jsonl`.
pub async fn history(path: String, format: &'static str) -> Done<String> {
    let separator = if path.contains('?') { '&' } else { '?' };
    file(&format!("{path}{separator}form={format}")).await
}

/// Asks the office to look in the consumer's log. The next sweep does.
pub async fn look_in_logs(id: GroupId) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "logs"]), &LookInLogsRequest {}).await
}

/// Declares a fix.
pub async fn declare_fix(id: GroupId, request: DeclareFixRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "fix"]), &request).await
}

/// Withdraws the fix.
pub async fn withdraw_fix(id: GroupId, request: ReasonRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "fix", "withdraw"]), &request).await
}

/// Returns the versions of a group's payload transform, newest first.
pub async fn transforms(id: GroupId) -> Done<TransformsAnswer> {
    let answer = get(&path(&["groups", id.as_str(), "transform"]), &Seen::default()).await?;
    // Without an `ETag` the server never answers 304.
    Ok(answer.into_new().unwrap_or_else(|| TransformsAnswer { versions: Vec::new() }))
}

/// Saves a new version of a group's payload transform.
pub async fn save_transform(id: GroupId, request: SaveTransformRequest) -> Done<Transform> {
    post(&path(&["groups", id.as_str(), "transform"]), &request).await
}

/// Runs a program on some waiting letters without saving or sending anything.
pub async fn preview_transform(id: GroupId, request: PreviewTransformRequest) -> Done<TransformPreviewAnswer> {
    post(&path(&["groups", id.as_str(), "transform", "preview"]), &request).await
}

/// Continues a dry run with the next page of waiting letters.
pub async fn dry_run(id: GroupId, request: DryRunRequest) -> Done<DryRun> {
    post(&path(&["groups", id.as_str(), "transform", "dry-run"]), &request).await
}

/// Sets who takes care of a group, or nobody if empty.
pub async fn owner(id: GroupId, request: OwnerRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "owner"]), &request).await
}

/// Saves or removes the note.
pub async fn note(id: GroupId, request: NoteRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "note"]), &request).await
}

/// Unmerges a fingerprint from the group.
pub async fn unmerge(id: GroupId, request: UnmergeRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "unmerge"]), &request).await
}

/// Allows an unmerged fingerprint to be merged again.
pub async fn allow_merge(id: GroupId, request: ReasonRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "allow-merge"]), &request).await
}

/// Releases all letters of a group from quarantine.
pub async fn release(id: GroupId, request: ReleaseRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "release"]), &request).await
}

/// Returns what a discard would do.
pub async fn preview_discard(id: GroupId, request: DiscardPreviewRequest) -> Done<DiscardPreviewAnswer> {
    post(&path(&["groups", id.as_str(), "discard", "preview"]), &request).await
}

/// Discards the letters of a preview.
pub async fn discard(id: GroupId, request: DiscardRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "discard"]), &request).await
}

/// Takes discarded letters back.
pub async fn undo_discard(id: GroupId, request: UndoDiscardRequest) -> Done<GroupAnswer> {
    post(&path(&["groups", id.as_str(), "discard", "undo"]), &request).await
}

/// Plans a replay of the waiting letters.
pub async fn plan(id: GroupId, request: PlanRequest) -> Done<PlanningAnswer> {
    post(&path(&["groups", id.as_str(), "plan"]), &request).await
}

/// Cancels the plan that is being made, or dismisses one that failed.
pub async fn cancel_plan(id: GroupId) -> Done<GroupAnswer> {
    remove(&path(&["groups", id.as_str(), "plan"])).await
}

/// Approves the group's plan and starts its replay.
pub async fn approve(id: GroupId, request: ApproveRequest) -> Done<ReplayAnswer> {
    post(&path(&["groups", id.as_str(), "approve"]), &request).await
}

/// Returns the replays, newest first.
pub async fn replays(cursor: Option<String>, seen: Seen) -> Fetched<ReplaysAnswer> {
    get(&format!("/replays{}", query(&[("cursor", cursor)])), &seen).await
}

/// Returns one replay.
pub async fn replay(id: ReplayId, seen: Seen) -> Fetched<ReplayAnswer> {
    get(&path(&["replays", id.as_str()]), &seen).await
}

/// Returns a page of a replay's letters.
pub async fn entries(
    id: ReplayId,
    outcome: Option<OutcomeKind>,
    wave: Option<u32>,
    cursor: Option<String>,
    seen: Seen,
) -> Fetched<EntriesAnswer> {
    let query = query(&[
        ("outcome", outcome.map(|outcome| outcome.as_str().to_string())),
        ("wave", wave.map(|wave| wave.to_string())),
        ("cursor", cursor),
    ]);
    get(&format!("{}{query}", path(&["replays", id.as_str(), "entries"])), &seen).await
}

/// Pauses a replay. Letters in flight are still observed.
pub async fn pause(id: ReplayId, request: ReasonRequest) -> Done<ReplayAnswer> {
    post(&path(&["replays", id.as_str(), "pause"]), &request).await
}

/// Aborts a replay.
pub async fn abort(id: ReplayId, request: ReasonRequest) -> Done<ReplayAnswer> {
    post(&path(&["replays", id.as_str(), "abort"]), &request).await
}

/// Resumes a paused replay.
pub async fn resume(id: ReplayId, request: ResumeRequest) -> Done<ReplayAnswer> {
    post(&path(&["replays", id.as_str(), "resume"]), &request).await
}

fn query(pairs: &[(&str, Option<String>)]) -> String {
    let pairs = pairs.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    let text: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if text.is_empty() { String::new() } else { format!("?{}", text.join("&")) }
}
