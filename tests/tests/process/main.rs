//! Tests of a real `dlo demo` process.

mod files;
mod folder;
mod kill;
mod links;
mod log;
mod outage;
mod paid;
mod policy;
