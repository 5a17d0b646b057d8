//! The list of replays: those that are not finished on top, and finished replays of one group as one entry.

use wire::ReplayAnswer;

/// Which replays are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// All.
    #[default]
    All,
    /// Those that send or observe letters.
    Running,
    /// Those that wait for a person.
    Paused,
    /// Those of which letters returned.
    Returned,
    /// Those that have ended.
    Finished,
}

/// Counts the replays that are not finished, in words: `1 in progress, 2 paused`. Empty without one.
pub fn unfinished(views: &[ReplayAnswer]) -> String {
    let of = |show: Show, word: &str| {
        let count = views.iter().filter(|view| show.shows(view)).count();
        (count > 0).then(|| format!("{count} {word}"))
    };
    let words: Vec<String> =
        [of(Show::Running, "in progress"), of(Show::Paused, "paused")].into_iter().flatten().collect();
    words.join(", ")
}

impl Show {
    /// All choices, in order.
    pub const ALL: [Self; 5] = [Self::All, Self::Running, Self::Paused, Self::Returned, Self::Finished];

    /// Returns its word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Returned => "returned",
            Self::Finished => "finished",
        }
    }

    /// Returns its label.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Running => "In progress",
            Self::Paused => "Paused",
            Self::Returned => "With returns",
            Self::Finished => "Finished",
        }
    }

    /// Returns what the page says where there are none.
    pub fn nothing(self) -> &'static str {
        match self {
            Self::All => "No replays.",
            Self::Running => "No replays in progress.",
            Self::Paused => "No paused replays.",
            Self::Returned => "No replays with returned letters.",
            Self::Finished => "No finished replays.",
        }
    }

    /// Returns whether a replay is shown.
    pub fn shows(self, view: &ReplayAnswer) -> bool {
        let (finished, paused) = (view.replay.is_finished(), is_paused(view));
        match self {
            Self::All => true,
            Self::Running => !finished && !paused,
            Self::Paused => paused,
            Self::Returned => view.total.returned > 0,
            Self::Finished => finished,
        }
    }
}

fn is_paused(view: &ReplayAnswer) -> bool {
    matches!(view.replay.state, domain::replay::ReplayState::Paused { .. })
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The replay.
    pub newest: ReplayAnswer,
    /// Earlier finished replays of the same group, newest first.
    pub earlier: Vec<ReplayAnswer>,
}

/// Returns the lines of a list of replays, which come newest first. Paused replays come first, because they wait for a
/// person, then those in progress, then the finished ones, folded by group.
pub fn entries(replays: &[ReplayAnswer], show: Show) -> Vec<Entry> {
    let rank = |view: &ReplayAnswer| match (view.replay.is_finished(), is_paused(view)) {
        (_, true) => 0,
        (false, _) => 1,
        (true, _) => 2,
    };
    let mut entries: Vec<Entry> = Vec::new();
    for wanted in 0..3 {
        for view in replays.iter().filter(|view| show.shows(view) && rank(view) == wanted) {
            let same = entries.iter_mut().find(|entry| {
                entry.newest.replay.is_finished()
                    && wanted == 2
                    && entry.newest.replay.plan.group == view.replay.plan.group
            });
            match same {
                Some(entry) => entry.earlier.push(view.clone()),
                None => entries.push(Entry { newest: view.clone(), earlier: Vec::new() }),
            }
        }
    }
    entries
}

/// Describes folded replays: `3 earlier replays of this group, 12 letters returned`.
pub fn folded(earlier: &[ReplayAnswer]) -> String {
    let returned: u64 = earlier.iter().map(|view| view.total.returned).sum();
    let replays = crate::money::counted(earlier.len() as u64, "earlier replay", "earlier replays");
    match returned {
        0 => format!("{replays} of this group"),
        n => format!("{replays} of this group, {} returned", crate::money::counted(n, "letter", "letters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{NOW, replay};
    use domain::id::{Actor, GroupId, ReplayId};
    use domain::replay::{Ending, PauseReason, Phase, ReplayState, WaveLedger};

    fn view(id: &str, group: &str, state: ReplayState, returned: u64) -> ReplayAnswer {
        let mut view = replay(state, &[WaveLedger { delivered: 1, returned, ..WaveLedger::default() }]);
        view.replay.plan.id = ReplayId::new(id);
        view.replay.plan.group = GroupId::new(group);
        view
    }

    fn all() -> Vec<ReplayAnswer> {
        let finished = || ReplayState::Finished { at: NOW, ending: Ending::Completed };
        let paused = || ReplayState::Paused {
            wave: 0,
            why: PauseReason::ByPerson { reason: "wait".into() },
            by: Actor::new("bo"),
            at: NOW,
        };
        vec![
            view("6", "a", finished(), 0),
            view("5", "b", ReplayState::Running { wave: 0, phase: Phase::Sending }, 0),
            view("4", "a", finished(), 2),
            view("3", "c", paused(), 1),
            view("2", "b", finished(), 0),
            view("1", "a", finished(), 1),
        ]
    }

    fn ids(show: Show) -> Vec<(String, Vec<String>)> {
        let id = |view: &ReplayAnswer| view.replay.plan.id.to_string();
        entries(&all(), show).iter().map(|entry| (id(&entry.newest), entry.earlier.iter().map(id).collect())).collect()
    }

    #[test]
    fn paused_replays_are_not_in_progress() {
        assert_eq!(unfinished(&[]), "");
        let sending = view("a", "g", ReplayState::Running { wave: 0, phase: Phase::Sending }, 0);
        assert_eq!(unfinished(std::slice::from_ref(&sending)), "1 in progress");
        let paused = all().into_iter().find(|view| Show::Paused.shows(view)).expect("a paused one");
        assert_eq!(unfinished(&[sending, paused.clone(), paused.clone()]), "1 in progress, 2 paused");
        assert_eq!(unfinished(&[paused]), "1 paused");
    }

    #[test]
    fn what_is_not_finished_comes_first_and_repeated_replays_are_folded() {
        let row =
            |newest: &str, earlier: &[&str]| (newest.to_string(), earlier.iter().map(ToString::to_string).collect());
        let expected: Vec<(String, Vec<String>)> =
            vec![row("3", &[]), row("5", &[]), row("6", &["4", "1"]), row("2", &[])];
        assert_eq!(ids(Show::All), expected);
        assert_eq!(
            folded(&entries(&all(), Show::All)[2].earlier),
            "2 earlier replays of this group, 3 letters returned"
        );
        assert_eq!(folded(&all()[..1]), "1 earlier replay of this group");
    }

    #[test]
    fn a_filter_shows_the_replays_that_it_names() {
        for (show, newest) in [
            (Show::Running, vec!["5"]),
            (Show::Paused, vec!["3"]),
            (Show::Returned, vec!["3", "4"]),
            (Show::Finished, vec!["6", "2"]),
        ] {
            let found: Vec<String> = ids(show).into_iter().map(|(id, _)| id).collect();
            assert_eq!(found, newest, "{show:?}");
        }
    }
}
