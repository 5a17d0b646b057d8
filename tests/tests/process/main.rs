//! Tests of a real `dlo demo` process.

mod folder;
mod kill;
