//! The current time, updated every second while the page is visible, and the time zone.

use crate::prefs::prefs;
use crate::reactive::prelude::*;
use dashboard_model::when;
use domain::time::Timestamp;
use std::time::Duration;

/// The ticking time.
#[derive(Clone, Copy)]
pub struct Clock(RwSignal<Timestamp>);

impl Clock {
    /// Starts the clock and provides it to all components below.
    pub fn provide() -> Self {
        let clock = Self(RwSignal::new(now()));
        let tick = move || {
            // A hidden page needs no ticks. It catches up with the first tick after it becomes visible.
            if !document().hidden() {
                clock.0.set(now());
            }
        };
        if let Ok(handle) = set_interval_with_handle(tick, Duration::from_secs(1)) {
            on_cleanup(move || handle.clear());
        }
        provide_context(clock);
        clock
    }
}

/// Returns the current time. Not tracked.
pub fn now() -> Timestamp {
    Timestamp::from_ms(js_sys::Date::now() as i64)
}

/// Returns the current time. Tracked: readers run again every second.
pub fn ticking() -> Timestamp {
    expect_context::<Clock>().0.get()
}

/// Returns the preferred zone's offset at a time, in minutes east of UTC. Tracked.
pub fn zone_min(at: Timestamp) -> i64 {
    if prefs().utc.get() {
        return 0;
    }
    let date = js_sys::Date::new(&(at.as_ms() as f64).into());
    -(date.get_timezone_offset() as i64)
}

/// Formats date, time and zone. Tracked.
pub fn absolute(at: Timestamp) -> String {
    when::absolute(at, zone_min(at))
}

/// Formats the time of day. Tracked.
pub fn time_of_day(at: Timestamp) -> String {
    when::clock(at, zone_min(at))
}
