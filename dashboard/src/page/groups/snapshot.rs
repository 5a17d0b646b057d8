//! The list as the reader left it.

use dashboard_model::route::GroupsRoute;
use domain::id::GroupId;
use wire::GroupsAnswer;

/// The list as the reader left it.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub answer: GroupsAnswer,
    pub route: GroupsRoute,
    pub shown: Vec<GroupId>,
    pub cursor: Option<GroupId>,
    pub scroll_px: i32,
}
