//! The states of a circuit, by calls and clocks.

use super::*;
use CircuitState::{Closed, HalfOpen, Open};
use proptest::prelude::*;

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(s * 1000)
}

/// A call at a second: `+` healthy, `-` failed, `x` refused.
fn play(policy: BreakerPolicy, calls: &[(i64, char, CircuitState)]) {
    let mut breaker = Breaker::new(policy);
    for (s, call, state) in calls {
        match (breaker.permit(at(*s)), call) {
            (Ok(permit), '+' | '-') => breaker.record(permit, *call == '+', at(*s)),
            (Err(_), 'x') => {}
            (permit, call) => panic!("at {s} s: {permit:?} for {call}"),
        }
        assert_eq!(breaker.state(at(*s)), *state, "at {s} s");
    }
}

#[test]
fn the_states_follow_the_calls() {
    let policy = BreakerPolicy { failures_max: 3, ..BreakerPolicy::default() };
    play(policy, &[(0, '-', Closed), (1, '+', Closed), (2, '-', Closed), (3, '-', Open), (4, 'x', Open)]);
    play(policy, &[(0, '-', Closed), (1, '-', Closed), (301, '-', Closed), (302, '-', Closed), (303, '-', Open)]);
    let one = BreakerPolicy { failures_max: 1, ..policy };
    play(one, &[(0, '-', Open), (29, 'x', Open), (30, '+', Closed), (31, '-', Open)]);
    play(one, &[(0, '-', Open), (30, '-', Open), (59, 'x', Open), (60, '+', Closed)]);
    let two = BreakerPolicy { probes: 2, ..one };
    play(two, &[(0, '-', Open), (30, '+', HalfOpen), (31, '+', Closed)]);
}

#[test]
fn one_probe_at_a_time() {
    let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
    let permit = breaker.permit(at(0)).unwrap();
    breaker.record(permit, false, at(0));
    let probe = breaker.permit(at(30)).unwrap();
    assert!(breaker.permit(at(31)).is_err());
    breaker.cancel(probe);
    let lost = breaker.permit(at(32)).unwrap();
    let next = breaker.permit(at(62)).expect("a probe without a result is lost after the longest call");
    breaker.record(next, true, at(63));
    breaker.record(lost, false, at(64));
    assert_eq!(breaker.state(at(64)), Closed);
}

#[test]
fn while_a_probe_runs_others_return_when_an_answer_is_likely_or_the_probe_is_lost() {
    let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
    let permit = breaker.permit(at(0)).unwrap();
    breaker.record(permit, false, at(0));
    let probe = breaker.permit(at(30)).unwrap();
    for (s, retry_after_s) in [(30, 3), (31, 2), (32, 1), (33, 27), (34, 26), (59, 1)] {
        let refused = Refused { retry_after: Span::from_secs(retry_after_s) };
        assert_eq!(breaker.permit(at(s)), Err(refused), "at {s} s");
    }
    breaker.record(probe, true, at(59));
    assert!(breaker.permit(at(59)).is_ok(), "nobody waits longer than the probe takes");
    let instant = BreakerPolicy { failures_max: 1, call_max: Span::from_ms(9), ..BreakerPolicy::default() };
    let mut breaker = Breaker::new(instant);
    let permit = breaker.permit(at(0)).unwrap();
    breaker.record(permit, false, at(0));
    let _probe = breaker.permit(at(30)).unwrap();
    assert_eq!(breaker.permit(at(30)), Err(Refused { retry_after: Span::from_ms(9) }), "a tenth is no time");
}

#[test]
fn late_results_change_nothing() {
    let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
    let (slow, fast) = (breaker.permit(at(0)).unwrap(), breaker.permit(at(0)).unwrap());
    breaker.record(fast, false, at(1));
    breaker.record(slow, true, at(2));
    assert_eq!(breaker.state(at(2)), Open);
}

#[test]
fn a_clock_that_went_back_keeps_nothing_open_for_longer() {
    let one = BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() };
    // A day later, and a day back: the 30 s go on.
    play(one, &[(90_000, '-', Open), (0, 'x', Open), (29, 'x', Open), (30, '+', Closed)]);
    let mut breaker = Breaker::new(one);
    let permit = breaker.permit(at(90_000)).unwrap();
    breaker.record(permit, false, at(90_000));
    let _lost = breaker.permit(at(90_030)).unwrap();
    assert!(breaker.permit(at(0)).is_err(), "its probe runs");
    assert!(breaker.permit(at(30)).is_ok(), "its probe is lost after the longest call, by a clock that went back too");
}

#[test]
fn failures_from_before_a_jump_count_for_their_window_and_no_longer() {
    let two = BreakerPolicy { failures_max: 2, ..BreakerPolicy::default() };
    play(two, &[(90_000, '-', Closed), (0, '+', Closed), (299, '+', Closed), (300, '-', Closed), (301, '-', Open)]);
    play(two, &[(90_000, '-', Closed), (0, '+', Closed), (299, '-', Open)]);
    play(two, &[(0, '-', Closed), (90_000, '-', Closed), (1, '-', Open)]);
}

#[test]
fn a_jump_forward_is_the_time_of_a_probe() {
    let one = BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() };
    play(one, &[(0, '-', Open), (90_000, '-', Open), (10, 'x', Open), (29, 'x', Open), (40, '+', Closed)]);
}

#[test]
fn what_a_lost_probe_says_late_is_not_taken_for_the_next_ones_word() {
    let two = BreakerPolicy { failures_max: 1, probes: 2, ..BreakerPolicy::default() };
    for late in ["answered", "failed", "dropped"] {
        let mut breaker = Breaker::new(two);
        let permit = breaker.permit(at(0)).unwrap();
        breaker.record(permit, false, at(0));
        let lost = breaker.permit(at(30)).unwrap();
        let next = breaker.permit(at(60)).unwrap();
        match late {
            "answered" => breaker.record(lost, true, at(61)),
            "failed" => breaker.record(lost, false, at(61)),
            _ => breaker.cancel(lost),
        }
        assert_eq!(breaker.state(at(61)), HalfOpen, "{late}");
        assert!(breaker.permit(at(61)).is_err(), "{late}: the next probe still runs");
        breaker.record(next, true, at(62));
        assert!(breaker.permit(at(62)).is_ok(), "{late}");
    }
}

proptest! {
    #[test]
    fn an_open_circuit_passes_one_call_per_period_at_most(waits in proptest::collection::vec(0_i64..20, 1..200)) {
        let mut breaker = Breaker::new(BreakerPolicy { failures_max: 1, ..BreakerPolicy::default() });
        let (mut now, mut passed) = (0, Vec::new());
        for wait in waits {
            now += wait;
            if let Ok(permit) = breaker.permit(at(now)) {
                breaker.record(permit, false, at(now));
                passed.push(now);
            }
        }
        prop_assert!(passed.windows(2).all(|pair| pair[1] - pair[0] >= 30));
    }
}
