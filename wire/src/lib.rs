//! What crosses HTTP: the shapes of the API's answers and requests, version 1 (`/api/v1`).
//!
//! Twins are written only where a domain type would have to bend; most answers carry domain types as they are.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod ask;
mod error;
mod group;
mod kin;
mod letter;
mod replay;
mod session;
mod transform;

pub use ask::{Approve, DeclareFix, Give, MakePlan, Note, Release, ReportDeployment, Resume, WaiverAsk};
pub use domain::kin::{GroupChange, GroupName, RulesPreview};
pub use error::{ErrorBody, ErrorCode};
pub use group::{GroupDetail, GroupRow, GroupsAnswer, NextStep, RowFacts, Summary, attention};
pub use kin::{AlsoSeenAs, Part, TryRules};
pub use letter::{LetterDetail, LetterRow, LettersPage};
pub use replay::{AuditPage, EntriesPage, EntryRow, PlanView, ReplayView, ReplaysAnswer};
pub use session::{ComeBack, Me, Session, SignIn, WayIn};
pub use transform::{
    AskDryRun, LetterPreview, SaveTransform, TransformPreview, TransformView, TransformsAnswer, TryTransform,
};

/// The path under which this version of the API lives.
pub const API_ROOT: &str = "/api/v1";
