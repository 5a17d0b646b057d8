//! The pure rules of Dead Letter Office.
//!
//! Nothing in this crate performs I/O, reads a clock, draws a random number or inspects the environment: time and
//! randomness are arguments, and the answer is a value. The same crate runs in the Lambda functions, in `dlo` and in
//! the browser.
//!
//! A letter's path: [`read::read`] turns a [`message::DeadMessage`] into a [`reading::Reading`]. It is stored as a
//! [`letter::Letter`] in the [`group::Variant`] of its fingerprint, and [`merge`] finds the variants that form one
//! group. A [`replay::Plan`] selects letters, the [`gate`] decides whether it may be approved, and a
//! [`replay::Replay`] sends them back. Its [`replay::Ledger`] accounts for every letter at every moment.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod alert;
pub mod audit;
pub mod clock;
pub mod deployment;
pub mod discard;
pub mod doctor;
pub mod facet;
pub mod filter;
pub mod fix;
pub mod gate;
pub mod group;
pub mod id;
pub mod impact;
pub mod letter;
pub mod limits;
pub mod logs;
pub mod marker;
pub mod merge;
pub mod message;
pub mod metric;
pub mod money;
pub mod notice;
pub mod person;
pub mod policy;
pub mod read;
pub mod reading;
pub mod replay;
pub mod report;
pub mod reported;
pub mod role;
pub mod tagged;
pub mod text;
pub mod time;
pub mod transform;
pub mod watch;
mod weights;
pub mod wrapped;
