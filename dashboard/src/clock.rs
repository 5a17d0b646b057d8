//! The current time by the office's clock, updated every second while the page is visible, and the time zone.

use crate::prefs::prefs;
use crate::reactive::prelude::*;
use dashboard_model::office_clock::OfficeClock;
use dashboard_model::when;
use domain::time::Timestamp;
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static OFFICE: Cell<OfficeClock> = Cell::new(OfficeClock::default());
}

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

/// Returns the current time by the office's clock. Not tracked.
pub fn now() -> Timestamp {
    of_here(here())
}

/// Returns the current time by this machine's clock, for times that only this machine compares. Not tracked.
pub fn here() -> Timestamp {
    Timestamp::from_ms(js_sys::Date::now() as i64)
}

/// Returns the office's time at a time of this machine's clock.
pub fn of_here(at: Timestamp) -> Timestamp {
    OFFICE.get().at(at)
}

/// Notes the office's time from a response to a request that was sent at `asked_at` by this machine's clock.
pub fn heard(office: Timestamp, asked_at: Timestamp) {
    OFFICE.set(OFFICE.get().heard(office, asked_at, here()));
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

/// Formats the time of day with its zone, for a sentence. Tracked.
pub fn time_in_zone(at: Timestamp) -> String {
    format!("{} {}", time_of_day(at), when::zone(zone_min(at)))
}

/// Formats the time of day. Tracked.
pub fn time_of_day(at: Timestamp) -> String {
    when::clock(at, zone_min(at))
}
