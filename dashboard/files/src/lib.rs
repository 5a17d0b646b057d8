//! The built dashboard as a table of embedded files.
//!
//! A separate crate, so that a new dashboard rebuilds only this table and the programs that embed it.

use office::assets::Files;

/// The files of `dashboard/dist`. Empty if the dashboard is not built.
pub static FILES: Files = include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));
