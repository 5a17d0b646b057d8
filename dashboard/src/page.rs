//! The pages: they own what is fetched and what is asked, and put the parts together.

mod download;
mod group;
mod groups;
mod paged;
mod replay;
mod replays;
mod signin;
mod unknown;

pub use group::GroupPage;
pub use groups::{GroupsPage, Memory};
pub use replay::ReplayPage;
pub use replays::ReplaysPage;
pub use signin::{SignInPage, SignedOut};
pub use unknown::UnknownPage;
