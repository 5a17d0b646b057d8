//! The handlers of Dead Letter Office over its ports: everything that is the same on AWS and on one machine.
//!
//! | handler | input | what it does |
//! |---|---|---|
//! | [`intake`] | dead messages | reads, groups and stores them |
//! | [`api`] | requests of the dashboard and of programs | shows groups, letters and replays; runs the acts of people |
//! | [`replay`] | step messages, receipts | does the next step of a replay, or of a plan that is made in steps |
//! | [`sweep`] | the clock, each minute | gauges, watchdog, merges, approvals by rule, forgetting |
//! | [`consumers`] | the platform's description of functions | evidence for the gate |
//! | [`doctor`] | the API | what is wrong with the queues' settings |
//!
//! [`event`] hands received messages to these handlers. The Lambda functions' mains and `dlo` wire everything to real
//! ports; [`port`] defines those.

// They panic if they cannot write: see `log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod act;
pub mod api;
pub mod assets;
mod audit;
mod by_rule;
mod commit;
pub mod consumers;
mod customers;
mod discarding;
pub mod doctor;
pub mod error;
pub mod event;
mod facets;
mod folding;
pub mod gate;
mod groups;
pub mod guard;
pub mod intake;
pub mod known;
pub mod letters;
pub mod log;
mod logs;
mod merged;
pub mod names;
mod notices;
pub mod office;
mod payloads;
pub mod person;
mod planning;
pub mod policy;
pub mod port;
pub mod replay;
mod reports;
mod summary;
pub mod sweep;
pub mod sweeps;
mod watch;
