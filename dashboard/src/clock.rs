//! The time now, ticking once a second while somebody looks, and the zone.

use crate::prefs::prefs;
use crate::reactive::prelude::*;
use dashboard_model::when;
use domain::time::Timestamp;
use std::time::Duration;

/// The ticking time.
#[derive(Clone, Copy)]
pub struct Clock(RwSignal<Timestamp>);

impl Clock {
    /// Starts it and provides it to everything below.
    pub fn provide() -> Self {
        let clock = Self(RwSignal::new(now()));
        let tick = move || {
            // A hidden page has nobody to tick for; it catches up with the first tick after it is seen again.
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

/// The time at this moment, not tracked.
pub fn now() -> Timestamp {
    Timestamp::from_ms(js_sys::Date::now() as i64)
}

/// The ticking time: whoever reads it runs again each second.
pub fn ticking() -> Timestamp {
    expect_context::<Clock>().0.get()
}

/// Minutes east of UTC at a moment, in the zone that the person prefers. Tracked.
pub fn zone_min(at: Timestamp) -> i64 {
    if prefs().utc.get() {
        return 0;
    }
    let date = js_sys::Date::new(&(at.as_ms() as f64).into());
    -(date.get_timezone_offset() as i64)
}

/// Date, time and zone of a moment. Tracked.
pub fn absolute(at: Timestamp) -> String {
    when::absolute(at, zone_min(at))
}

/// The time of day of a moment. Tracked.
pub fn time_of_day(at: Timestamp) -> String {
    when::clock(at, zone_min(at))
}
