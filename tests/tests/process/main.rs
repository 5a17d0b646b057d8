//! Tests of a real `dlo demo` process.

mod files;
mod kill;
mod links;
mod log;
