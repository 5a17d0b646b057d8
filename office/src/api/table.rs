//! The table of endpoints.

use super::endpoint::{Endpoint, Query};
use super::{export, groups, letters, replays, transforms};
use domain::deployment::Deployment;
use domain::role::Permission;
use domain::transform::{DryRun, Transform};
use wire::{
    ApproveRequest, AuditPage, DeclareFixRequest, DeploymentRequest, DryRunRequest, EntriesPage, GroupDetail,
    GroupsAnswer, LetterDetail, LettersPage, Me, NoteRequest, PlanRequest, PlanView, PreviewRulesRequest,
    PreviewTransformRequest, ReasonRequest, ReleaseRequest, ReplayView, ReplaysAnswer, ResumeRequest, RulesPreview,
    SaveTransformRequest, TransformPreview, TransformsAnswer, UnmergeRequest,
};

const CURSOR: Query = Query { name: "cursor", meaning: "what the page before gave as `next`" };
const LIMIT: Query = Query { name: "limit", meaning: "rows of the page, 1 to 200; 50 when not given" };
const FORM: Query = Query { name: "form", meaning: "jsonl or csv; jsonl when not given" };
const GO_ON: Query = Query { name: "cursor", meaning: "what the answer before gave in its header `dlo-next`" };
const STATE: Query =
    Query { name: "state", meaning: "waiting, in_replay, quarantined or delivered; all when not given" };
/// The filter of letters, with the names that a plan's has.
const LETTERS: &[Query] = &[
    STATE,
    Query { name: "message_type", meaning: "the kind of message, exactly" },
    Query { name: "tenant", meaning: "whose message it is, exactly" },
    Query { name: "died_from", meaning: "died last at this moment or later, milliseconds" },
    Query { name: "died_before", meaning: "died last before this moment, milliseconds" },
    Query { name: "replays_max", meaning: "replayed this often at most" },
    CURSOR,
    LIMIT,
];
const WAVE: Query = Query { name: "wave", meaning: "the wave, from 0; all when not given" };
const OUTCOME: Query = Query {
    name: "outcome",
    meaning: "pending, sending, in_flight, delivered, returned, expired or skipped; all when not given",
};

/// Every endpoint that the office has wherever it runs. Signing in differs by place and is added there.
pub fn endpoints() -> Vec<Endpoint> {
    reading().into_iter().chain(on_groups()).chain(on_replays()).collect()
}

/// What only shows.
fn reading() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<Me, _>("/me", "Who is calling, and what they may do", groups::me),
        Endpoint::get::<GroupsAnswer, _>("/groups", "All groups in the order of attention", groups::list),
        Endpoint::get::<GroupDetail, _>("/groups/{group}", "A group, its gate, plan and replay", groups::show),
        Endpoint::get::<LettersPage, _>("/groups/{group}/letters", "Letters of a group", letters::of_group)
            .with_query(LETTERS),
        Endpoint::get::<AuditPage, _>("/groups/{group}/audit", "Who did what, newest first", groups::audit)
            .with_query(&[CURSOR, LIMIT]),
        Endpoint::get::<TransformsAnswer, _>(
            "/groups/{group}/transform",
            "The versions of a group's payload transform, newest first",
            transforms::show,
        ),
        Endpoint::get::<LetterDetail, _>("/letters/{letter}", "A letter, its payload and its deaths", letters::show),
        Endpoint::get::<ReplaysAnswer, _>("/replays", "Replays, newest first", replays::list)
            .with_query(&[CURSOR, LIMIT]),
        Endpoint::get::<ReplayView, _>("/replays/{replay}", "A replay and its ledger", replays::show),
        Endpoint::get::<EntriesPage, _>("/replays/{replay}/entries", "The letters of a replay", replays::entries)
            .with_query(&[WAVE, OUTCOME, CURSOR, LIMIT]),
        Endpoint::file("/groups/{group}/history", "Who did what, as a file, newest first", export::of_group)
            .with_query(&[FORM, GO_ON]),
        Endpoint::file("/replays/{replay}/history", "Every letter's attempt, as a file", export::of_replay)
            .with_query(&[FORM, GO_ON]),
    ]
}

/// What changes something about a group.
fn on_groups() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<DeclareFixRequest, GroupDetail, _>(
            "/groups/{group}/fix",
            Some(Permission::Triage),
            "Say that the cause is gone",
            groups::declare_fix,
        ),
        Endpoint::post::<ReasonRequest, GroupDetail, _>(
            "/groups/{group}/fix/withdraw",
            Some(Permission::Triage),
            "Say that it was not",
            groups::withdraw_fix,
        ),
        Endpoint::post::<NoteRequest, GroupDetail, _>(
            "/groups/{group}/note",
            Some(Permission::Triage),
            "Write the note of a group",
            groups::note,
        ),
        Endpoint::post::<UnmergeRequest, GroupDetail, _>(
            "/groups/{group}/part",
            Some(Permission::Triage),
            "Say that a fingerprint of the group is another cause",
            groups::part,
        ),
        Endpoint::post::<ReasonRequest, GroupDetail, _>(
            "/groups/{group}/rejoin",
            Some(Permission::Triage),
            "Say that a fingerprint that was taken out may be merged again",
            groups::rejoin,
        ),
        Endpoint::post::<SaveTransformRequest, Transform, _>(
            "/groups/{group}/transform",
            Some(Permission::Triage),
            "Save another version of the group's payload transform",
            transforms::save,
        ),
        Endpoint::post::<PreviewTransformRequest, TransformPreview, _>(
            "/groups/{group}/transform/preview",
            Some(Permission::Triage),
            "What a program would change, on letters that wait; nothing is changed",
            transforms::preview,
        ),
        Endpoint::post::<DryRunRequest, DryRun, _>(
            "/groups/{group}/transform/dry-run",
            Some(Permission::Triage),
            "Try a saved version over another page of the letters that wait",
            transforms::dry_run,
        ),
        Endpoint::post::<PlanRequest, PlanView, _>(
            "/groups/{group}/plan",
            Some(Permission::Plan),
            "Freeze the letters that wait now into a plan",
            groups::plan,
        ),
        Endpoint::post::<ApproveRequest, ReplayView, _>(
            "/groups/{group}/approve",
            Some(Permission::Approve),
            "Approve the plan through the gate, and start its replay",
            replays::approve,
        ),
        Endpoint::post::<ReleaseRequest, GroupDetail, _>(
            "/groups/{group}/release",
            Some(Permission::Approve),
            "Let letters out of quarantine, so that a plan may take them again",
            groups::release,
        ),
    ]
}

/// What changes something about a replay, or about all groups.
fn on_replays() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<ReasonRequest, ReplayView, _>(
            "/replays/{replay}/pause",
            Some(Permission::Stop),
            "Send nothing more for now",
            replays::pause,
        ),
        Endpoint::post::<ResumeRequest, ReplayView, _>(
            "/replays/{replay}/resume",
            Some(Permission::Approve),
            "Go on through the gate, with another canary",
            replays::resume,
        ),
        Endpoint::post::<ReasonRequest, ReplayView, _>(
            "/replays/{replay}/abort",
            Some(Permission::Stop),
            "Send nothing more at all",
            replays::abort,
        ),
        Endpoint::post::<PreviewRulesRequest, RulesPreview, _>(
            "/policy/preview",
            Some(Permission::Triage),
            "What rules about groups would change; nothing is changed",
            groups::preview,
        ),
        Endpoint::post::<DeploymentRequest, Deployment, _>(
            "/deployments",
            Some(Permission::ReportDeployment),
            "Report that a version of a consumer went live",
            groups::report_deployment,
        ),
    ]
}
