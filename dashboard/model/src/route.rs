//! The URL as a value: the state worth sharing. Parsed from path and query, printed without default values.

mod query;

pub use query::{encode, value};

use crate::letter_order::LetterOrder;
use crate::replays::Show;
use crate::sort::{Dir, Sort};
use crate::view::View;
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::replay::OutcomeKind;
use domain::time::Timestamp;
use query::{Printed, Query, decode};
use std::fmt;

/// A page of the dashboard, with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The list of groups, which is also the home page.
    Groups(GroupsRoute),
    /// One group.
    Group(GroupRoute),
    /// The list of replays.
    Replays(Show),
    /// One replay.
    Replay(ReplayRoute),
    /// The policy.
    Policy,
    /// The target of one-time links. The code is in the fragment, which browsers never send to a server.
    SignIn,
    /// An unknown path.
    Unknown(String),
}

/// The state of the list of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupsRoute {
    /// The filter's text.
    pub q: String,
    /// The selected view.
    pub view: View,
    /// The sort order.
    pub sort: Sort,
    /// The direction, or `None` for the order's default.
    pub dir: Option<Dir>,
}

/// The state of a group's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRoute {
    /// The group.
    pub id: GroupId,
    /// The open tab.
    pub tab: GroupTab,
    /// The state that the list of letters is limited to.
    pub state: Option<LetterStateKind>,
    /// The filter of the list of letters, which also applies to plans made here.
    pub filter: LetterFilter,
    /// The order of the list of letters.
    pub order: LetterOrder,
    /// The open letter.
    pub letter: Option<LetterId>,
}

impl GroupRoute {
    /// Returns the default state of a group's page.
    pub fn new(id: GroupId) -> Self {
        Self {
            id,
            tab: GroupTab::default(),
            state: None,
            filter: LetterFilter::default(),
            order: LetterOrder::default(),
            letter: None,
        }
    }
}

/// The tabs of a group's page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupTab {
    /// The failure.
    #[default]
    Failure,
    /// One letter's body and attributes.
    Payload,
    /// The letters.
    Letters,
    /// The audit log.
    Timeline,
}

impl GroupTab {
    /// All tabs, in order.
    pub const ALL: [Self; 4] = [Self::Failure, Self::Payload, Self::Letters, Self::Timeline];

    /// Returns the tab's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Payload => "payload",
            Self::Letters => "letters",
            Self::Timeline => "timeline",
        }
    }
}

/// The state of a replay's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRoute {
    /// The replay.
    pub id: ReplayId,
    /// The outcome that the list of letters is limited to.
    pub outcome: Option<OutcomeKind>,
    /// The wave that the list of letters is limited to; waves count from 0.
    pub wave: Option<u32>,
}

impl ReplayRoute {
    /// Returns the default state of a replay's page.
    pub fn new(id: ReplayId) -> Self {
        Self { id, outcome: None, wave: None }
    }
}

/// The identity of a page. While it stays the same, a change of the URL updates the page in route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageKey {
    /// See [`Route::Groups`].
    Groups,
    /// See [`Route::Group`].
    Group(GroupId),
    /// See [`Route::Replays`].
    Replays,
    /// See [`Route::Replay`].
    Replay(ReplayId),
    /// See [`Route::Policy`].
    Policy,
    /// See [`Route::SignIn`].
    SignIn,
    /// See [`Route::Unknown`].
    Unknown(String),
}

impl Route {
    /// Returns the home page.
    pub fn home() -> Self {
        Self::Groups(GroupsRoute::default())
    }

    /// Returns a group's page in its default state.
    pub fn group(id: &GroupId) -> Self {
        Self::Group(GroupRoute::new(id.clone()))
    }

    /// Returns a replay's page in its default state.
    pub fn replay(id: &ReplayId) -> Self {
        Self::Replay(ReplayRoute::new(id.clone()))
    }

    /// Parses a path and a query (with or without its question mark). Invalid values are ignored.
    pub fn parse(path: &str, query: &str) -> Self {
        let query = Query::parse(query);
        let parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [] | ["groups"] => Self::Groups(GroupsRoute {
                q: query.get("q").unwrap_or_default().to_string(),
                view: query.word("view", &View::ALL, View::as_str).unwrap_or_default(),
                sort: query.word("sort", &Sort::ALL, Sort::as_str).unwrap_or_default(),
                dir: query.word("dir", &Dir::ALL, Dir::as_str),
            }),
            ["groups", id] => Self::Group(GroupRoute {
                id: GroupId::new(*id),
                tab: query.word("tab", &GroupTab::ALL, GroupTab::as_str).unwrap_or_default(),
                state: query.word("state", &LetterStateKind::ALL, LetterStateKind::as_str),
                filter: LetterFilter {
                    message_type: query.text("type"),
                    tenant: query.text("tenant"),
                    died_from: query.number("from").map(Timestamp::from_ms),
                    died_before: query.number("before").map(Timestamp::from_ms),
                    replays_max: query.number("replays"),
                },
                order: query.get("order").and_then(LetterOrder::parse).unwrap_or_default(),
                letter: query.get("letter").filter(|id| !id.is_empty()).map(LetterId::new),
            }),
            ["replays"] => Self::Replays(query.word("show", &Show::ALL, Show::as_str).unwrap_or_default()),
            ["replays", id] => Self::Replay(ReplayRoute {
                id: ReplayId::new(*id),
                outcome: query.word("outcome", &OutcomeKind::ALL, OutcomeKind::as_str),
                wave: query.number("wave"),
            }),
            ["policy"] => Self::Policy,
            ["signin"] => Self::SignIn,
            _ => Self::Unknown(path.to_string()),
        }
    }

    /// Returns the page's identity.
    pub fn page(&self) -> PageKey {
        match self {
            Self::Groups(_) => PageKey::Groups,
            Self::Group(route) => PageKey::Group(route.id.clone()),
            Self::Replays(_) => PageKey::Replays,
            Self::Replay(route) => PageKey::Replay(route.id.clone()),
            Self::Policy => PageKey::Policy,
            Self::SignIn => PageKey::SignIn,
            Self::Unknown(path) => PageKey::Unknown(path.clone()),
        }
    }
}

/// Returns the title of the browser tab: `(2) Groups · Dead Letter Office` if two groups wait for the reader's approval.
pub fn tab_title(title: &str, due: u64) -> String {
    let due = if due > 0 { format!("({due}) ") } else { String::new() };
    let title = if title.is_empty() { String::new() } else { format!("{title} · ") };
    format!("{due}{title}Dead Letter Office")
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Printed::default();
        let path = match self {
            Self::Groups(route) => {
                query.put("q", &route.q);
                query.put_unless("view", route.view, View::default(), View::as_str);
                query.put_unless("sort", route.sort, Sort::default(), Sort::as_str);
                query.put("dir", route.dir.map_or("", Dir::as_str));
                "/groups".to_string()
            }
            Self::Group(route) => {
                query.put_unless("tab", route.tab, GroupTab::default(), GroupTab::as_str);
                query.put("state", route.state.map_or("", LetterStateKind::as_str));
                query.put_filter(&route.filter);
                query.put("order", &route.order.word());
                query.put("letter", route.letter.as_ref().map_or("", LetterId::as_str));
                format!("/groups/{}", encode(route.id.as_str()))
            }
            Self::Replays(show) => {
                query.put_unless("show", *show, Show::default(), Show::as_str);
                "/replays".to_string()
            }
            Self::Replay(route) => {
                query.put("outcome", route.outcome.map_or("", OutcomeKind::as_str));
                query.put_number("wave", route.wave);
                format!("/replays/{}", encode(route.id.as_str()))
            }
            Self::Policy => "/policy".to_string(),
            Self::SignIn => "/signin".to_string(),
            Self::Unknown(path) => path.clone(),
        };
        write!(f, "{path}{}", query.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_printed_back_without_defaults() {
        // (the URL, its printed form)
        let rows = [
            ("/", "/groups"),
            ("/groups", "/groups"),
            ("/groups/", "/groups"),
            ("/groups?view=open&sort=attention", "/groups"),
            ("/groups?view=growing", "/groups?view=growing"),
            ("/groups?view=nonsense&foo=bar", "/groups"),
            ("/groups?q=queue%3Apay+%22a%26b%22", "/groups?q=queue:pay%20%22a%26b%22"),
            ("/groups?sort=risk&dir=asc", "/groups?sort=risk&dir=asc"),
            ("/groups/ab12", "/groups/ab12"),
            ("/groups/ab12?tab=failure", "/groups/ab12"),
            ("/groups/ab12?tab=letters&state=waiting&letter=ff", "/groups/ab12?tab=letters&state=waiting&letter=ff"),
            (
                "/groups/ab12?tab=letters&order=-money&state=waiting",
                "/groups/ab12?tab=letters&state=waiting&order=-money",
            ),
            ("/groups/ab12?tab=letters&order=sent&letter=", "/groups/ab12?tab=letters"),
            ("/groups/ab12?order=nonsense", "/groups/ab12"),
            ("/groups/a%2Fb", "/groups/a%2Fb"),
            (
                "/groups/ab12?replays=0&tab=letters&before=2&type=a+b&tenant=%26&from=-1",
                "/groups/ab12?tab=letters&type=a%20b&tenant=%26&from=-1&before=2&replays=0",
            ),
            ("/groups/ab12?tab=letters&type=&from=noon&replays=-1", "/groups/ab12?tab=letters"),
            ("/replays?show=all", "/replays"),
            ("/replays?show=paused", "/replays?show=paused"),
            ("/replays/77?outcome=returned&wave=2", "/replays/77?outcome=returned&wave=2"),
            ("/replays/77?wave=minus", "/replays/77"),
            ("/policy?x=1", "/policy"),
            ("/signin", "/signin"),
            ("/elsewhere/x", "/elsewhere/x"),
            ("/groups?q=%E2%82%AC%ZZ", "/groups?q=%E2%82%AC%25ZZ"),
        ];
        for (url, printed) in rows {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            let route = Route::parse(path, query);
            assert_eq!(route.to_string(), printed, "{url}");
            let (path, query) = printed.split_once('?').unwrap_or((printed, ""));
            assert_eq!(Route::parse(path, query), route, "{url}");
        }
    }

    #[test]
    fn a_letter_filter_survives_the_url() {
        let filter = LetterFilter {
            message_type: Some("order & refund".into()),
            tenant: Some("acme".into()),
            died_from: Some(Timestamp::from_ms(1_795_000_000_042)),
            died_before: Some(Timestamp::from_ms(1_795_000_060_000)),
            replays_max: Some(2),
        };
        let route = GroupRoute { filter: filter.clone(), ..GroupRoute::new("g".into()) };
        let url = Route::Group(route).to_string();
        let (path, query) = url.split_once('?').unwrap();
        let Route::Group(route) = Route::parse(path, query) else { panic!("{url}") };
        assert_eq!(route.filter, filter);
    }

    #[test]
    fn a_changed_query_keeps_the_page() {
        let page = |path: &str, query: &str| Route::parse(path, query).page();
        assert_eq!(page("/groups", "q=x"), page("/", ""));
        assert_eq!(page("/groups/a", "tab=letters"), page("/groups/a", ""));
        assert_ne!(page("/groups/a", ""), page("/groups/b", ""));
    }
}
