//! Tests of a real `dlo demo` process.

mod kill;
mod log;
