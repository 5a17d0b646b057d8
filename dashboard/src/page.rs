//! The pages: they fetch values, send requests, and combine components.

mod download;
mod group;
mod groups;
mod idle;
mod paged;
mod policy;
mod replay;
mod replays;
mod signin;
mod unknown;
mod viewport;

pub use group::GroupPage;
pub use groups::{GroupsPage, Memory};
pub use idle::{IdleWarning, IdleWatch};
pub use policy::PolicyPage;
pub use replay::ReplayPage;
pub use replays::ReplaysPage;
pub use signin::{SignInPage, SignedOut};
pub use unknown::UnknownPage;
