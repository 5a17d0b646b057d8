//! A real `dlo demo` that is killed.

mod kill;
