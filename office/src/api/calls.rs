//! How many calls a person may make: a script in a loop, or a stolen token, must not take the API from everybody else.
//!
//! The limit holds per process. On Lambda each instance handles one call at a time and counts for itself, and the
//! template's parameter `ApiConcurrency` bounds their number.

use domain::person::{Person, PersonId};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The people that are remembered at most. The one who may soonest call at full rate again is forgotten first.
const PEOPLE_MAX: usize = 1_000;

/// How many calls one person may make to one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallsMax {
    /// Calls per second in the long run, at least 1.
    pub per_s: u32,
    /// Calls at once after a pause, at least 1.
    pub burst: u32,
}

/// The recent calls of each person, by the generic cell rate algorithm (ITU-T I.371): one time for each.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// When all calls so far would have been made, at the long-run rate.
    due: HashMap<PersonId, Instant>,
}

impl Calls {
    /// Counts a call. Returns after how long the person may call again, if this call is too much.
    pub(super) fn add(&mut self, person: &Person, max: CallsMax, now: Instant) -> Result<(), Duration> {
        // Where the platform knows only names, each name is one person.
        let key = person.id.clone();
        let key = key.unwrap_or_else(|| PersonId { issuer: String::new(), subject: person.name.to_string() });
        let interval = Duration::from_secs(1) / max.per_s.max(1);
        let ahead = interval * max.burst.max(1).saturating_sub(1);
        let due = self.due.get(&key).map_or(now, |due| (*due).max(now));
        match due.saturating_duration_since(now).checked_sub(ahead).filter(|wait| !wait.is_zero()) {
            Some(wait) => Err(wait),
            None => {
                if !self.due.contains_key(&key) {
                    self.make_room();
                }
                self.due.insert(key, due + interval);
                Ok(())
            }
        }
    }

    fn make_room(&mut self) {
        if self.due.len() < PEOPLE_MAX {
            return;
        }
        let first = self.due.iter().min_by_key(|(_, due)| **due).map(|(key, _)| key.clone());
        if let Some(first) = first {
            self.due.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: CallsMax = CallsMax { per_s: 10, burst: 5 };

    fn person(name: &str) -> Person {
        Person { name: name.into(), id: None }
    }

    #[test]
    fn after_a_burst_calls_go_on_at_the_rate_and_others_are_not_affected() {
        let (mut calls, start) = (Calls::default(), Instant::now());
        let ms = |ms| start + Duration::from_millis(ms);
        let ada = person("ada");
        assert_eq!([(); 5].map(|()| calls.add(&ada, MAX, start)), [Ok(()); 5]);
        assert_eq!(calls.add(&ada, MAX, start), Err(Duration::from_millis(100)));
        assert_eq!(calls.add(&ada, MAX, ms(40)), Err(Duration::from_millis(60)), "a refused call is not counted");
        assert_eq!(calls.add(&person("otto"), MAX, start), Ok(()));
        assert_eq!(calls.add(&ada, MAX, ms(100)), Ok(()));
        assert_eq!(calls.add(&ada, MAX, ms(150)), Err(Duration::from_millis(50)));
        assert_eq!([(); 6].map(|()| calls.add(&ada, MAX, ms(60_000)).is_ok()), [true, true, true, true, true, false]);
    }

    #[test]
    fn two_people_of_one_name_are_two() {
        let (mut calls, now, once) = (Calls::default(), Instant::now(), CallsMax { per_s: 1, burst: 1 });
        let of = |id: &str| Person { name: "ada".into(), id: Some(PersonId::of_demo(id)) };
        assert_eq!(calls.add(&of("a"), once, now), Ok(()));
        assert_eq!(calls.add(&of("b"), once, now), Ok(()));
        assert!(calls.add(&of("a"), once, now).is_err());
    }

    #[test]
    fn the_number_of_people_is_bounded_and_the_busiest_stay() {
        let (mut calls, now) = (Calls::default(), Instant::now());
        let busy = person("busy");
        while calls.add(&busy, MAX, now).is_ok() {}
        for number in 0..3 * PEOPLE_MAX {
            assert_eq!(calls.add(&person(&number.to_string()), MAX, now), Ok(()));
        }
        assert_eq!(calls.due.len(), PEOPLE_MAX);
        assert_eq!(calls.add(&person(&(3 * PEOPLE_MAX - 1).to_string()), MAX, now), Ok(()));
        assert_eq!(calls.due.len(), PEOPLE_MAX, "who is known already takes nobody's place");
        assert!(calls.add(&busy, MAX, now).is_err(), "nobody gets rid of the limit by calling under other names");
    }
}
