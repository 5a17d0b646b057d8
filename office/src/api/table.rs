//! The table of endpoints.

use super::endpoint::Endpoint;
use super::pages::PAGE_DEFAULT;
use super::params::{ParamValues, Query};
use super::policy::{VERSIONS_DEFAULT, VERSIONS_MAX};
use super::{audit, discards, doctor, export, groups, letters, policy, replays, rows, transforms};
use crate::port::Listed;
use domain::deployment::Deployment;
use domain::facet::Facets;
use domain::group::merging::RulesPreview;
use domain::letter::LetterStateKind;
use domain::limits::{FILTER_CHARS_MAX, GROUPS_SHOWN_MAX, PAGE_MAX, TIME_MS_MAX, WAVES_MAX};
use domain::replay::OutcomeKind;
use domain::role::Permission;
use domain::transform::{DryRun, Transform};
use wire::list::delta::VERSION_CHARS_MAX;
use wire::list::sort::{Dir, Sort};
use wire::list::view::View;
use wire::{
    ApproveRequest, AuditAnswer, CheckPolicyRequest, DeclareFixRequest, DeploymentRequest, DiscardPreviewAnswer,
    DiscardPreviewRequest, DiscardRequest, DoctorAnswer, DryRunRequest, EntriesAnswer, GroupAnswer, GroupsAnswer,
    LetterAnswer, LettersAnswer, LookInLogsRequest, MeAnswer, NoteRequest, OwnerRequest, PlanRequest, PlanningAnswer,
    PolicyAnswer, PolicyCheckAnswer, PolicyHistoryAnswer, PolicyRequest, PreviewRulesRequest, PreviewTransformRequest,
    ReasonRequest, ReleaseRequest, ReplayAnswer, ReplaysAnswer, ResumeRequest, SaveTransformRequest,
    TransformPreviewAnswer, TransformsAnswer, UndoDiscardRequest, UnmergeRequest,
};

/// A cursor of a list, as a page gives it.
const fn cursor(list: Listed) -> Query {
    Query { name: "cursor", meaning: "the `next` of the previous page", values: ParamValues::Cursor(list) }
}

/// A cursor of a list, as a file gives it.
const fn file_cursor(list: Listed) -> Query {
    Query {
        name: "cursor",
        meaning: "the header `dlo-next` of the previous response",
        values: ParamValues::Cursor(list),
    }
}

/// A moment, in milliseconds since 1970.
const fn moment(name: &'static str, meaning: &'static str) -> Query {
    Query { name, meaning, values: ParamValues::Number { min: 0, max: TIME_MS_MAX, default: None } }
}

const fn text(name: &'static str, meaning: &'static str) -> Query {
    Query { name, meaning, values: ParamValues::Text { chars_max: FILTER_CHARS_MAX } }
}

const LIMIT: Query = Query {
    name: "limit",
    meaning: "rows per page",
    values: ParamValues::Number { min: 1, max: PAGE_MAX as i64, default: Some(PAGE_DEFAULT as i64) },
};
const BEFORE: Query = Query {
    name: "before",
    meaning: "the `next` of the previous page; default the newest version",
    values: ParamValues::Number { min: 1, max: u32::MAX as i64, default: None },
};
const VERSIONS: Query = Query {
    name: "limit",
    meaning: "versions per page",
    values: ParamValues::Number { min: 1, max: VERSIONS_MAX as i64, default: Some(VERSIONS_DEFAULT as i64) },
};
const FORM: Query =
    Query { name: "form", meaning: "default jsonl", values: ParamValues::Word(|| vec!["jsonl", "csv"]) };
const STATE: Query = Query {
    name: "state",
    meaning: "default all",
    values: ParamValues::Word(|| LetterStateKind::ALL.map(LetterStateKind::as_str).to_vec()),
};
/// The query of the list of groups, as in the dashboard's URL.
const GROUPS: &[Query] = &[
    text("q", "the filter, in the language of the dashboard: `queue:pay at-risk:>1000 \"some text\"`"),
    Query {
        name: "view",
        meaning: "default all groups",
        values: ParamValues::Word(|| View::ALL.map(View::as_str).to_vec()),
    },
    Query {
        name: "sort",
        meaning: "default attention",
        values: ParamValues::Word(|| Sort::ALL.map(Sort::as_str).to_vec()),
    },
    Query {
        name: "dir",
        meaning: "default the worst first",
        values: ParamValues::Word(|| Dir::ALL.map(Dir::as_str).to_vec()),
    },
    Query {
        name: "limit",
        meaning: "groups in the answer",
        values: ParamValues::Number { min: 1, max: GROUPS_SHOWN_MAX as i64, default: Some(GROUPS_SHOWN_MAX as i64) },
    },
    Query {
        name: "since",
        meaning: "the `version` of the groups that the caller has: the answer then has only the `changes`, unless most groups changed",
        values: ParamValues::Text { chars_max: VERSION_CHARS_MAX },
    },
];
/// The filter of letters, with the same names as in a plan.
const LETTERS: &[Query] = &[
    STATE,
    text("message_type", "the message type, exactly"),
    text("tenant", "the tenant, exactly"),
    moment("died_from", "last failed at or after this time, milliseconds"),
    moment("died_before", "last failed before this time, milliseconds"),
    Query {
        name: "replays_max",
        meaning: "at most this many replays",
        values: ParamValues::Number { min: 0, max: u32::MAX as i64, default: None },
    },
    cursor(Listed::Letters),
    LIMIT,
];
/// The same letters as a file.
const LETTERS_FILE: &[Query] =
    &[FORM, STATE, LETTERS[1], LETTERS[2], LETTERS[3], LETTERS[4], LETTERS[5], file_cursor(Listed::Letters)];
const AUDIT: &[Query] = &[
    Query {
        name: "views",
        meaning: "whether to include who viewed payloads and exported histories; default true",
        values: ParamValues::Word(|| vec!["true", "false"]),
    },
    cursor(Listed::Audit),
    LIMIT,
];
const WAVE: Query = Query {
    name: "wave",
    meaning: "the wave, from 0; default all",
    values: ParamValues::Number { min: 0, max: WAVES_MAX as i64 - 1, default: None },
};
const OUTCOME: Query = Query {
    name: "outcome",
    meaning: "default all",
    values: ParamValues::Word(|| OutcomeKind::ALL.map(OutcomeKind::as_str).to_vec()),
};

/// Returns the endpoints that every office has. Each platform adds its own way to sign in.
pub fn endpoints() -> Vec<Endpoint> {
    let changing = on_groups().into_iter().chain(on_merging()).chain(on_discards());
    reading().into_iter().chain(changing).chain(on_transforms()).chain(on_replays()).chain(on_policy()).collect()
}

/// Endpoints that only read.
fn reading() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<MeAnswer, _>("/me", "The caller and their permissions", groups::me),
        Endpoint::get::<GroupsAnswer, _>(
            "/groups",
            "Groups, most urgent first, with exact totals over all of them",
            rows::list,
        )
        .with_query(GROUPS),
        Endpoint::get::<GroupAnswer, _>("/groups/{group}", "A group with its gate, plan and replay", groups::show),
        Endpoint::get::<LettersAnswer, _>("/groups/{group}/letters", "The letters of a group", letters::of_group)
            .with_query(LETTERS),
        Endpoint::get::<Facets, _>(
            "/groups/{group}/facets",
            "What the letters of a group share, and letters of other groups do not, from samples of both",
            letters::facets,
        ),
        Endpoint::get::<AuditAnswer, _>(
            "/groups/{group}/audit",
            "The audit log of a group, newest first",
            audit::of_group,
        )
        .with_query(AUDIT),
        Endpoint::get::<TransformsAnswer, _>(
            "/groups/{group}/transform",
            "The versions of a group's payload transform, newest first",
            transforms::show,
        ),
        Endpoint::get::<LetterAnswer, _>(
            "/letters/{letter}",
            "A letter with its payload and its deaths",
            letters::show,
        ),
        Endpoint::get::<DoctorAnswer, _>(
            "/doctor",
            "What is wrong with the main queues, their dead-letter queues and their consumers",
            doctor::examine,
        ),
        Endpoint::get::<ReplaysAnswer, _>("/replays", "Replays, newest first", replays::list)
            .with_query(const { &[cursor(Listed::Replays), LIMIT] }),
        Endpoint::get::<ReplayAnswer, _>("/replays/{replay}", "A replay with its ledger", replays::show),
        Endpoint::get::<EntriesAnswer, _>("/replays/{replay}/entries", "The letters of a replay", replays::entries)
            .with_query(const { &[WAVE, OUTCOME, cursor(Listed::Entries), LIMIT] }),
        Endpoint::file("/groups/{group}/history", "The audit log of a group as a file, newest first", export::of_group)
            .with_query(const { &[FORM, file_cursor(Listed::Audit)] }),
        Endpoint::file(
            "/groups/{group}/letters/file",
            "The letters of a group as a file, in order of first send; without payloads",
            export::of_group_letters,
        )
        .with_query(LETTERS_FILE),
        Endpoint::file(
            "/replays/{replay}/history",
            "The outcome of every letter of a replay as a file",
            export::of_replay,
        )
        .with_query(const { &[FORM, file_cursor(Listed::Entries)] }),
    ]
}

/// Endpoints that change a group.
fn on_groups() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<DeclareFixRequest, GroupAnswer, _>(
            "/groups/{group}/fix",
            Some(Permission::Triage),
            "Declare a fix",
            groups::declare_fix,
        ),
        Endpoint::post::<ReasonRequest, GroupAnswer, _>(
            "/groups/{group}/fix/withdraw",
            Some(Permission::Triage),
            "Withdraw the fix",
            groups::withdraw_fix,
        ),
        Endpoint::post::<NoteRequest, GroupAnswer, _>(
            "/groups/{group}/note",
            Some(Permission::Triage),
            "Save the note of a group",
            groups::note,
        ),
        Endpoint::post::<OwnerRequest, GroupAnswer, _>(
            "/groups/{group}/owner",
            Some(Permission::Triage),
            "Set who takes care of a group",
            groups::owner,
        ),
        Endpoint::post::<LookInLogsRequest, GroupAnswer, _>(
            "/groups/{group}/logs",
            Some(Permission::Triage),
            "Search the consumer's log for why the letters failed; the next sweep does it",
            groups::look_in_logs,
        ),
        Endpoint::post::<PlanRequest, PlanningAnswer, _>(
            "/groups/{group}/plan",
            Some(Permission::Plan),
            "Make a plan with a snapshot of the waiting letters; in steps if they are many",
            groups::plan,
        ),
        Endpoint::delete::<GroupAnswer, _>(
            "/groups/{group}/plan",
            Permission::Plan,
            "Cancel the plan that is being made, or dismiss one that failed",
            groups::cancel_plan,
        ),
        Endpoint::post::<ApproveRequest, ReplayAnswer, _>(
            "/groups/{group}/approve",
            Some(Permission::Approve),
            "Approve the plan and start its replay; needs an open gate",
            replays::approve,
        ),
        Endpoint::post::<ReleaseRequest, GroupAnswer, _>(
            "/groups/{group}/release",
            Some(Permission::Approve),
            "Release letters from quarantine, so that a plan can include them again",
            groups::release,
        ),
    ]
}

/// Endpoints that unmerge fingerprints, and merge them again.
fn on_merging() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<UnmergeRequest, GroupAnswer, _>(
            "/groups/{group}/unmerge",
            Some(Permission::Triage),
            "Unmerge a fingerprint from the group",
            groups::unmerge,
        ),
        Endpoint::post::<ReasonRequest, GroupAnswer, _>(
            "/groups/{group}/allow-merge",
            Some(Permission::Triage),
            "Allow an unmerged fingerprint to be merged again",
            groups::allow_merge,
        ),
    ]
}

/// Endpoints that discard letters.
fn on_discards() -> Vec<Endpoint> {
    vec![
        Endpoint::post::<DiscardPreviewRequest, DiscardPreviewAnswer, _>(
            "/groups/{group}/discard/preview",
            Some(Permission::Approve),
            "Preview a discard: how many letters, and their money; changes nothing",
            discards::preview,
        ),
        Endpoint::post::<DiscardRequest, GroupAnswer, _>(
            "/groups/{group}/discard",
            Some(Permission::Approve),
            "Discard the letters of a preview, so that they are never sent",
            discards::discard,
        ),
        Endpoint::post::<UndoDiscardRequest, GroupAnswer, _>(
            "/groups/{group}/discard/undo",
            Some(Permission::Approve),
            "Take discarded letters back",
            discards::undo,
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
        Endpoint::post::<PreviewTransformRequest, TransformPreviewAnswer, _>(
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
        Endpoint::post::<ReasonRequest, ReplayAnswer, _>(
            "/replays/{replay}/pause",
            Some(Permission::PauseOrAbort),
            "Pause a replay: send nothing until it is resumed",
            replays::pause,
        ),
        Endpoint::post::<ResumeRequest, ReplayAnswer, _>(
            "/replays/{replay}/resume",
            Some(Permission::Approve),
            "Resume a paused replay with a new canary; needs an open gate",
            replays::resume,
        ),
        Endpoint::post::<ReasonRequest, ReplayAnswer, _>(
            "/replays/{replay}/abort",
            Some(Permission::PauseOrAbort),
            "Abort a replay: send nothing more",
            replays::abort,
        ),
        Endpoint::post::<DeploymentRequest, Deployment, _>(
            "/deployments",
            Some(Permission::ReportDeployment),
            "Report that a version of a consumer went live",
            groups::report_deployment,
        ),
    ]
}

/// Endpoints of the policy.
fn on_policy() -> Vec<Endpoint> {
    vec![
        Endpoint::get::<PolicyAnswer, _>("/policy", "The policy that applies", policy::show),
        Endpoint::put::<PolicyRequest, PolicyAnswer, _>(
            "/policy",
            Permission::ChangePolicy,
            "Replace the policy, on the condition that nobody else has changed it since",
            policy::change,
        ),
        Endpoint::post::<CheckPolicyRequest, PolicyCheckAnswer, _>(
            "/policy/check",
            Some(Permission::Triage),
            "Check a policy: what it would change, and why it would be refused; changes nothing",
            policy::check,
        ),
        Endpoint::get::<PolicyHistoryAnswer, _>(
            "/policy/history",
            "The versions of the policy, newest first",
            policy::history,
        )
        .with_query(const { &[BEFORE, VERSIONS] }),
        Endpoint::post::<PreviewRulesRequest, RulesPreview, _>(
            "/policy/preview",
            Some(Permission::Triage),
            "Preview the policy's rules about groups; changes nothing",
            groups::preview,
        ),
    ]
}
