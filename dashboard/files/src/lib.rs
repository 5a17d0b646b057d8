//! The built dashboard as a table of files. A crate of its own, so that a new dashboard rebuilds only this table and the
//! programs that carry it.

use office::assets::Files;

/// The files of `dashboard/dist`; empty where the dashboard was not built.
pub static FILES: Files = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));
