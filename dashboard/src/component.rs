//! Parts of pages: they take values and signals and never fetch.

mod badge;
mod bar;
mod button;
mod copy;
mod dialog;
mod frame;
mod help;
mod icon;
mod json;
mod money;
mod pill;
mod spark;
mod stat;
mod tabs;
mod toast;
mod trouble;
mod when;

pub use badge::LiveBadge;
pub use bar::{Bar, Part};
pub use button::{Button, Kind};
pub use copy::Copy;
pub use dialog::Dialog;
pub use frame::{Frame, Rail};
pub use help::Help;
pub use icon::{Glyph, Icon};
pub use json::JsonView;
pub use money::MoneyText;
pub use pill::{Pill, StepPill};
pub use spark::Spark;
pub use stat::Stat;
pub use tabs::{Tab, Tabs};
pub use toast::{Say, Toasts, toasts};
pub use trouble::{Empty, Problem, Skeleton, Unless};
pub use when::{Age, At, Countdown, Loss};
