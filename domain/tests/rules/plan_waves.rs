//! Waves of a plan: a canary, then growing; every letter exactly once, every limit kept.

use crate::replay_fixture::plan;
use domain::limits::{PLAN_LETTERS_MAX, WAVES_MAX};
use domain::policy::ReplayPolicy;
use domain::replay::{Plan, PlanError, PlanOptions, plan_waves};
use domain::time::Span;
use proptest::prelude::*;

#[track_caller]
fn check(letters: u64, options: PlanOptions, waves: &[u64]) {
    assert_eq!(plan_waves(letters, &ReplayPolicy::default(), &options).unwrap(), waves);
}

#[test]
fn waves_start_small_and_grow() {
    let default = PlanOptions::default;
    check(1, default(), &[1]);
    check(2, default(), &[1, 1]);
    check(20, default(), &[1, 5, 14]);
    check(21, default(), &[2, 10, 9]);
    check(7_162, default(), &[10, 50, 250, 1_250, 5_000, 602]);
    check(30, PlanOptions { canary_letters: Some(3), growth_factor: Some(2), ..default() }, &[3, 6, 12, 9]);
    check(3, PlanOptions { canary_letters: Some(10), ..default() }, &[3]);
}

#[test]
fn a_million_letters_take_less_than_an_hour_if_the_policy_allows_it() {
    let policy = ReplayPolicy { wave_letters_max: 250_000, pace_per_s: 500, ..ReplayPolicy::default() };
    let waves = plan_waves(PLAN_LETTERS_MAX, &policy, &PlanOptions::default()).unwrap();
    assert_eq!(waves, [10, 50, 250, 1_250, 6_250, 31_250, 156_250, 250_000, 250_000, 250_000, 54_690]);
    let plan = Plan {
        rounds: waves.len() as u64,
        waves,
        pace_per_s: policy.pace_per_s,
        window_ms: Span::from_secs(120),
        wave_delay_ms: policy.wave_delay_ms,
        wave_delay_ms_max: Span::from_secs(30),
        ..plan()
    };
    let takes = plan.duration_estimate();
    assert!(takes < Span::from_mins(60), "{takes:?}");
}

#[test]
fn a_pause_leaves_in_hand_what_the_pace_allows_in_a_second_and_eighty_letters_at_most() {
    for (pace_per_s, in_hand) in [(1, 1), (50, 50), (80, 80), (81, 80), (10_000, 80)] {
        let plan = Plan { pace_per_s, waves: vec![10, 200, 90], ..plan() };
        assert_eq!(plan.in_hand_max(), in_hand, "{pace_per_s} per second");
    }
    assert_eq!(Plan { pace_per_s: 50, waves: vec![1, 5, 11], ..plan() }.in_hand_max(), 11, "no more than a wave has");
}

#[test]
fn options_out_of_range_are_rejected_by_name() {
    let refused = |options: PlanOptions| plan_waves(10, &ReplayPolicy::default(), &options).unwrap_err();
    let growth = refused(PlanOptions { growth_factor: Some(0), ..PlanOptions::default() });
    assert_eq!(growth, PlanError::OutOfRange { option: "growth_factor", min: 1, max: 100 });
    let canary = refused(PlanOptions { canary_letters: Some(0), ..PlanOptions::default() });
    assert_eq!(canary.to_string(), "`canary_letters` must be between 1 and 1000");
    assert_eq!(refused(PlanOptions { canary_letters: Some(1_001), ..PlanOptions::default() }), canary);
    let never = PlanOptions { pause_share_pct: Some(91), ..PlanOptions::default() };
    let never = never.check(&ReplayPolicy::default()).unwrap_err();
    assert_eq!(never.to_string(), "`pause_share_pct` must be between 0 and 90");
    let small = ReplayPolicy { wave_letters_max: 20, ..ReplayPolicy::default() };
    let wave = PlanOptions { canary_letters: Some(21), ..PlanOptions::default() };
    assert_eq!(wave.check(&small), Err(PlanError::OutOfRange { option: "canary_letters", min: 1, max: 20 }));
    assert_eq!(PlanOptions::default().check(&small), Ok(()));
    assert_eq!(plan_waves(0, &ReplayPolicy::default(), &PlanOptions::default()), Err(PlanError::NoLetters));
    let slow = PlanOptions { canary_letters: Some(1), growth_factor: Some(1), ..PlanOptions::default() };
    assert_eq!(plan_waves(1_000, &ReplayPolicy::default(), &slow), Err(PlanError::TooManyWaves));
    assert!(plan_waves(PLAN_LETTERS_MAX, &ReplayPolicy::default(), &PlanOptions::default()).is_ok());
    let many = PLAN_LETTERS_MAX + 1;
    let too_many = plan_waves(many, &ReplayPolicy::default(), &PlanOptions::default());
    assert_eq!(too_many, Err(PlanError::TooManyLetters { letters: many }));
}

#[test]
fn a_window_may_be_longer_than_the_queues_minimum_but_never_shorter() {
    let derived = Span::from_ms(119_500);
    let window = |window_s| PlanOptions { window_s, ..PlanOptions::default() }.window(derived);
    assert_eq!(window(None), Ok(derived));
    assert_eq!(window(Some(120)), Ok(Span::from_secs(120)));
    assert_eq!(window(Some(86_400)), Ok(Span::from_secs(86_400)));
    for s in [0, 119] {
        assert_eq!(window(Some(s)), Err(PlanError::WindowTooShort { min: 120 }));
    }
    for s in [86_401, u64::MAX] {
        assert_eq!(window(Some(s)), Err(PlanError::OutOfRange { option: "window_s", min: 120, max: 86_400 }));
    }
}

proptest! {
    #[test]
    fn every_letter_is_in_exactly_one_wave(
        letters in 1..=PLAN_LETTERS_MAX,
        canary in 1..=1_000_u64,
        factor in 1..=100_u64,
    ) {
        let options =
            PlanOptions { canary_letters: Some(canary), growth_factor: Some(factor), ..PlanOptions::default() };
        let waves = match plan_waves(letters, &ReplayPolicy::default(), &options) {
            Ok(waves) => waves,
            Err(error) => {
                prop_assert_eq!(error, PlanError::TooManyWaves);
                return Ok(());
            }
        };
        prop_assert!(waves.iter().all(|wave| *wave <= ReplayPolicy::default().wave_letters_max));
        prop_assert_eq!(waves.iter().sum::<u64>(), letters);
        prop_assert!(waves.len() <= WAVES_MAX);
        prop_assert!(waves.iter().all(|wave| *wave > 0));
        prop_assert!(waves[0] <= canary);
    }
}
