//! The HTTP API's requests and answers, version 1 (`/api/v1`).
//!
//! A type of its own exists only if the domain type does not fit; most answers contain domain types unchanged.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod changes;
mod discard;
mod doctor;
mod draft;
mod error;
mod facts;
mod gate;
mod group;
mod letter;
pub mod list;
mod merge;
mod next;
mod policy;
mod replay;
mod request;
mod session;
pub mod sorted;
mod transform;

pub use changes::{ListChanges, part_of};
pub use discard::{DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest, UndoDiscardRequest};
pub use doctor::DoctorAnswer;
pub use domain::group::merging::{GroupChange, GroupName, RulesPreview};
pub use draft::{DraftView, PlanningAnswer};
pub use error::{ErrorBody, ErrorCode};
pub use facts::{GateFact, RowFacts};
pub use gate::GateView;
pub use group::{DeathsChart, GroupAnswer, GroupRow, GroupsAnswer, LogsView, Summary};
pub use letter::{LetterAnswer, LetterRow, LettersAnswer};
pub use merge::{MergedVariant, PreviewRulesRequest, UnmergeRequest};
pub use next::NextStep;
pub use policy::{CheckPolicyRequest, PolicyAnswer, PolicyCheckAnswer, PolicyHistoryAnswer, PolicyRequest, PolicyRow};
pub use replay::{AuditAnswer, EntriesAnswer, EntryRow, PlanAnswer, ReplayAnswer, ReplayInfo, ReplaysAnswer};
pub use request::{
    ApproveRequest, DeclareFixRequest, DeploymentRequest, LookInLogsRequest, NoteRequest, OwnerRequest, PlanRequest,
    ReasonRequest, ReleaseRequest, ResumeRequest, WaiverRequest,
};
pub use session::{IssuerSignInRequest, MeAnswer, RefreshRequest, SessionAnswer, SignInAnswer, SignInRequest};
pub use transform::{
    DryRunRequest, LetterPreview, PreviewTransformRequest, SaveTransformRequest, TransformPreviewAnswer, TransformView,
    TransformsAnswer,
};

/// The path of this version of the API.
pub const API_ROOT: &str = "/api/v1";

/// The header of requests with the token, as `Bearer <token>`. It comes before `Authorization`, which a proxy may need for
/// its own signature: CloudFront's origin access control replaces it.
pub const TOKEN_HEADER: &str = "dlo-authorization";

/// The header of requests with the SHA-256 of their body, hex. CloudFront's origin access control signs requests to a
/// function URL by it, because it does not read the body.
pub const BODY_HASH_HEADER: &str = "x-amz-content-sha256";

/// The header of every response with the office's time: milliseconds since 1970, UTC.
pub const NOW_HEADER: &str = "dlo-now";
