//! The pages: they fetch values, send requests, and combine components.

mod download;
mod group;
mod groups;
mod idle;
mod paged;
mod replay;
mod replays;
mod signin;
mod unknown;

pub use group::GroupPage;
pub use groups::{GroupsPage, Memory};
pub use idle::IdleWatch;
pub use replay::ReplayPage;
pub use replays::ReplaysPage;
pub use signin::{SignInPage, SignedOut};
pub use unknown::UnknownPage;
