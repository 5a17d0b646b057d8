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

const CURSOR: Query = Query { name: "cursor", meaning: "the `next` of the previous page" };
const LIMIT: Query = Query { name: "limit", meaning: "rows per page, 1 to 200; default 50" };
const FORM: Query = Query { name: "form", meaning: "jsonl or csv; default jsonl" };
const FILE_CURSOR: Query = Query { name: "cursor", meaning: "the header `dlo-next` of the previous response" };
const STATE: Query = Query { name: "state", meaning: "waiting, in_replay, quarantined or delivered; default all" };
/// The filter of letters, with the same names as in a plan.
const LETTERS: &[Query] = &[
    STATE,
    Query { name: "message_type", meaning: "the message type, exactly" },
    Query { name: "tenant", meaning: "the tenant, exactly" },
    Query { name: "died_from", meaning: "last died at or after this time, milliseconds" },
    Query { name: "died_before", meaning: "last died before this time, milliseconds" },
    Query { name: "replays_max", meaning: "at most this many replays" },
    CURSOR,
    LIMIT,
];
const WAVE: Query = Query { name: "wave", meaning: "the wave, from 0; default all" };
const OUTCOME: Query = Query {
    name: "outcome",
    meaning: "pending, sending, in_flight, delivered, returned, expired or skipped; default all",
};

/// Returns the endpoints that every office has. Each platform adds its own way to sign in.
pub fn endpoints() -> Vec<Endpoint> {
    reading().into_iter().chain(on_groups()).chain(on_transforms()).chain(on_replays()).collect()
}

/// Endpoints that only read.
fn reading() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<Me, _>("/me", "The caller and their permissions", groups::me),
        Endpoint::get::<GroupsAnswer, _>("/groups", "All groups, most urgent first", groups::list),
        Endpoint::get::<GroupDetail, _>("/groups/{group}", "A group with its gate, plan and replay", groups::show),
        Endpoint::get::<LettersPage, _>("/groups/{group}/letters", "The letters of a group", letters::of_group)
            .with_query(LETTERS),
        Endpoint::get::<AuditPage, _>("/groups/{group}/audit", "The audit log of a group, newest first", groups::audit)
            .with_query(&[CURSOR, LIMIT]),
        Endpoint::get::<TransformsAnswer, _>(
            "/groups/{group}/transform",
            "The versions of a group's payload transform, newest first",
            transforms::show,
        ),
        Endpoint::get::<LetterDetail, _>(
            "/letters/{letter}",
            "A letter with its payload and its deaths",
            letters::show,
        ),
        Endpoint::get::<ReplaysAnswer, _>("/replays", "Replays, newest first", replays::list)
            .with_query(&[CURSOR, LIMIT]),
        Endpoint::get::<ReplayView, _>("/replays/{replay}", "A replay with its ledger", replays::show),
        Endpoint::get::<EntriesPage, _>("/replays/{replay}/entries", "The letters of a replay", replays::entries)
            .with_query(&[WAVE, OUTCOME, CURSOR, LIMIT]),
        Endpoint::file("/groups/{group}/history", "The audit log of a group as a file, newest first", export::of_group)
            .with_query(&[FORM, FILE_CURSOR]),
        Endpoint::file(
            "/replays/{replay}/history",
            "The outcome of every letter of a replay as a file",
            export::of_replay,
        )
        .with_query(&[FORM, FILE_CURSOR]),
    ]
}

/// Endpoints that change a group.
fn on_groups() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<DeclareFixRequest, GroupDetail, _>(
            "/groups/{group}/fix",
            Some(Permission::Triage),
            "Declare a fix",
            groups::declare_fix,
        ),
        Endpoint::post::<ReasonRequest, GroupDetail, _>(
            "/groups/{group}/fix/withdraw",
            Some(Permission::Triage),
            "Withdraw the fix",
            groups::withdraw_fix,
        ),
        Endpoint::post::<NoteRequest, GroupDetail, _>(
            "/groups/{group}/note",
            Some(Permission::Triage),
            "Save the note of a group",
            groups::note,
        ),
        Endpoint::post::<UnmergeRequest, GroupDetail, _>(
            "/groups/{group}/unmerge",
            Some(Permission::Triage),
            "Unmerge a fingerprint from the group",
            groups::unmerge,
        ),
        Endpoint::post::<ReasonRequest, GroupDetail, _>(
            "/groups/{group}/allow-merge",
            Some(Permission::Triage),
            "Allow an unmerged fingerprint to be merged again",
            groups::allow_merge,
        ),
        Endpoint::post::<UnmergeRequest, GroupDetail, _>(
            "/groups/{group}/part",
            Some(Permission::Triage),
            "Use /groups/{group}/unmerge",
            groups::unmerge,
        )
        .deprecated(),
        Endpoint::post::<ReasonRequest, GroupDetail, _>(
            "/groups/{group}/rejoin",
            Some(Permission::Triage),
            "Use /groups/{group}/allow-merge",
            groups::allow_merge,
        )
        .deprecated(),
        Endpoint::post::<PlanRequest, PlanView, _>(
            "/groups/{group}/plan",
            Some(Permission::Plan),
            "Make a plan with a snapshot of the waiting letters",
            groups::plan,
        ),
        Endpoint::post::<ApproveRequest, ReplayView, _>(
            "/groups/{group}/approve",
            Some(Permission::Approve),
            "Approve the plan and start its replay; needs an open gate",
            replays::approve,
        ),
        Endpoint::post::<ReleaseRequest, GroupDetail, _>(
            "/groups/{group}/release",
            Some(Permission::Approve),
            "Release letters from quarantine, so that a plan can include them again",
            groups::release,
        ),
    ]
}

/// Endpoints of a group's payload transforms.
fn on_transforms() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<SaveTransformRequest, Transform, _>(
            "/groups/{group}/transform",
            Some(Permission::Triage),
            "Save a new version of the group's payload transform",
            transforms::save,
        ),
        Endpoint::post::<PreviewTransformRequest, TransformPreview, _>(
            "/groups/{group}/transform/preview",
            Some(Permission::Triage),
            "Preview a program on waiting letters; changes nothing",
            transforms::preview,
        ),
        Endpoint::post::<DryRunRequest, DryRun, _>(
            "/groups/{group}/transform/dry-run",
            Some(Permission::Triage),
            "Run a saved version on the next page of waiting letters, without sending them",
            transforms::dry_run,
        ),
    ]
}

/// Endpoints that change a replay, or concern all groups.
fn on_replays() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<ReasonRequest, ReplayView, _>(
            "/replays/{replay}/pause",
            Some(Permission::Stop),
            "Pause a replay: send nothing until it is resumed",
            replays::pause,
        ),
        Endpoint::post::<ResumeRequest, ReplayView, _>(
            "/replays/{replay}/resume",
            Some(Permission::Approve),
            "Resume a paused replay with a new canary; needs an open gate",
            replays::resume,
        ),
        Endpoint::post::<ReasonRequest, ReplayView, _>(
            "/replays/{replay}/abort",
            Some(Permission::Stop),
            "Abort a replay: send nothing more",
            replays::abort,
        ),
        Endpoint::post::<PreviewRulesRequest, RulesPreview, _>(
            "/policy/preview",
            Some(Permission::Triage),
            "Preview the policy's rules about groups; changes nothing",
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
