//! The handlers of Dead Letter Office over its ports. The Lambda functions' mains and `dlo` only wire them.
//!
//! | handler | fed by | does |
//! |---|---|---|
//! | [`intake`] | dead messages | reads, groups and keeps them |
//! | [`api`] | the dashboard and programs | shows, and does what people ask |
//! | [`replay`] | step messages | does the next step of a replay |
//! | [`sweep`] | the clock, each minute | gauges, watchdog |
//! | [`consumers`] | what the platform says of functions | evidence for the gate |

pub mod act;
pub mod api;
pub mod assets;
mod by_rule;
pub mod consumers;
pub mod error;
pub mod event;
mod groups;
pub mod guard;
pub mod intake;
pub mod letters;
mod merged;
pub mod office;
mod payloads;
pub mod port;
pub mod replay;
pub mod sweep;
