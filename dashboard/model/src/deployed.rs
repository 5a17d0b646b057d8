//! What runs now, compared with the fix, and how fast a group grows.

use super::money::counted;
use domain::deployment::Deployment;
use domain::fix::FixKind;
use domain::group::GroupState;
use wire::{GroupRow, NextStep};

/// Explains that the version with the fix no longer runs. Returns `None` if it does, or if the fix is no deployment.
pub fn rolled_back(state: &GroupState, deployment: Option<&Deployment>) -> Option<String> {
    let (fix, deployment) = (state.fix()?, deployment?);
    // A version that went live before the fix was declared is not a step back: the fix is still to be deployed.
    let is_other =
        fix.kind == FixKind::Deploy && deployment.version != fix.reference && deployment.at > fix.effective_at;
    is_other.then(|| {
        format!(
            "{} runs {} now, but the fix is in {}. It was rolled back, or replaced by a version that may lack the fix.",
            deployment.service, deployment.version, fix.reference
        )
    })
}

/// Describes the versions that letters failed on beside the one that runs now: ` failed on v1 and v2, runs v3 now`. Empty if
/// neither is known.
pub fn versions(died_on: &[String], deployment: Option<&Deployment>) -> String {
    let runs = deployment.map(|deployment| deployment.version.as_str());
    let died = match died_on {
        [] => None,
        [only] if runs == Some(only) => return format!(" failed on {only}, which runs now"),
        [only] => Some(format!("failed on {only}")),
        [others @ .., last] => Some(format!("failed on {} and {last}", others.join(", "))),
    };
    let runs = runs.map(|version| format!("runs {version} now"));
    let words: Vec<String> = died.into_iter().chain(runs).collect();
    if words.is_empty() { String::new() } else { format!(" {}", words.join(", ")) }
}

/// Describes how fast a group grows: `12 failures in the last 15 min.` Returns `None` if it does not grow.
pub fn growing(row: &GroupRow) -> Option<String> {
    let is_growing = row.next == NextStep::Growing;
    is_growing.then(|| format!("{} in the last 15 min.", counted(row.arrivals_recent, "failure", "failures")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{NOW, replay};
    use domain::replay::ReplayState;
    use domain::time::Span;

    #[test]
    fn the_versions_that_letters_died_on_stand_beside_the_one_that_runs() {
        let runs =
            |version: &str| Deployment { service: "orders".into(), version: version.into(), commit: None, at: NOW };
        for (died_on, now, expected) in [
            (&[][..], None, ""),
            (&[], Some("v3"), " runs v3 now"),
            (&["v1"], None, " failed on v1"),
            (&["v1"], Some("v1"), " failed on v1, which runs now"),
            (&["v1"], Some("v2"), " failed on v1, runs v2 now"),
            (&["v1", "v2"], Some("v1"), " failed on v1 and v2, runs v1 now"),
            (&["v1", "v2", "v3"], Some("v4"), " failed on v1, v2 and v3, runs v4 now"),
        ] {
            let died_on: Vec<String> = died_on.iter().map(ToString::to_string).collect();
            assert_eq!(versions(&died_on, now.map(runs).as_ref()), expected);
        }
    }

    #[test]
    fn a_rollback_is_shown() {
        let fix = replay(ReplayState::Running { wave: 0, phase: domain::replay::Phase::Sending }, &[]).replay.plan.fix;
        let declared = GroupState::FixDeclared { fix: fix.clone() };
        let runs = |version: &str, after_s: i64| Deployment {
            service: "orders".into(),
            version: version.into(),
            commit: None,
            at: NOW.plus(Span::from_secs(after_s)),
        };
        let rows = [
            (&declared, Some(runs("v2", 10)), false),
            (&declared, Some(runs("v1", 10)), true),
            (&declared, Some(runs("v1", -10)), false),
            (&declared, None, false),
            (&GroupState::Open, Some(runs("v1", 10)), false),
        ];
        for (state, deployment, expected) in rows {
            assert_eq!(rolled_back(state, deployment.as_ref()).is_some(), expected, "{state:?} {deployment:?}");
        }
    }
}
