//! The group of the page, and what the signed-in person may do with it.

use crate::component::People;
use crate::poll::{Live, Pulse};
use crate::reactive::prelude::*;
use crate::session;
use domain::id::GroupId;
use domain::role::Permission;
use std::sync::Arc;
use wire::{GroupAnswer, ReplayAnswer};

/// Why every action is disabled on the page of a merged fingerprint.
const MERGED: &str = "This fingerprint is merged into another group. Act there.";

/// The group of the page.
#[derive(Clone, Copy)]
pub(super) struct CurrentGroup {
    live: Live<GroupAnswer>,
    detail: Memo<Arc<GroupAnswer>>,
    id: StoredValue<GroupId>,
    tab: session::Tab,
}

impl CurrentGroup {
    /// Returns the group once it is loaded.
    pub(super) fn new(live: Live<GroupAnswer>, id: GroupId) -> Option<Self> {
        let first = Arc::new(live.data().get_untracked()?);
        let detail = Memo::new(move |before: Option<&Arc<GroupAnswer>>| match live.get() {
            Some(detail) => Arc::new(detail),
            None => before.cloned().unwrap_or_else(|| first.clone()),
        });
        Some(Self { live, detail, id: StoredValue::new(id), tab: session::tab() })
    }

    /// Returns the group's ID.
    pub(super) fn id(self) -> GroupId {
        self.id.get_value()
    }

    /// Returns the group. Not tracked.
    pub(super) fn now(self) -> Arc<GroupAnswer> {
        self.detail.get_untracked()
    }

    /// Returns a part of the group. Readers run again only when that part changes.
    pub(super) fn part<U: Clone + PartialEq + Send + Sync + 'static>(
        self,
        select: impl Fn(&GroupAnswer) -> U + Send + Sync + 'static,
    ) -> Memo<U> {
        self.detail.map(move |detail| select(detail))
    }

    /// Sets the group to the response of a command.
    pub(super) fn put(self, detail: GroupAnswer) {
        self.live.put(detail);
    }

    /// Applies the expected effect of a command at once, and fetches the group.
    pub(super) fn patch(self, change: impl FnOnce(&mut GroupAnswer)) {
        let mut detail = GroupAnswer::clone(&self.now());
        change(&mut detail);
        self.live.put(detail);
        self.live.refresh();
    }

    /// Sets the group's replay.
    pub(super) fn put_replay(self, view: ReplayAnswer) {
        self.patch(|detail| detail.replay = Some(view));
    }

    /// Returns the group's freshness.
    pub(super) fn pulse(self) -> Pulse {
        self.live.pulse()
    }

    /// Fetches the group now, and more often for a while.
    pub(super) fn hurry(self) {
        self.live.hurry();
    }

    /// Explains why the person cannot do something now. Returns `None` if they can. `more` adds a condition.
    pub(super) fn why_not(
        self,
        permission: Permission,
        more: impl Fn(&GroupAnswer) -> Option<String> + Send + Sync + 'static,
    ) -> Signal<Option<String>> {
        let pulse = self.live.pulse();
        Signal::derive(move || {
            let more = || self.detail.with(|detail| more(detail));
            let merged = || self.detail.with(|detail| detail.merged_into.as_ref().map(|_| MERGED.to_string()));
            pulse.why_not_write().or_else(|| self.tab.why_not(permission)).or_else(merged).or_else(more)
        })
    }

    /// Returns the people involved in an approval.
    pub(super) fn people(self) -> Signal<People> {
        Signal::derive(move || People {
            me: self.tab.me().map(|me| me.name.to_string()),
            identity: self.tab.me().map(|me| me.identity).unwrap_or_default(),
            declarer: self.detail.with(|d| d.row.state.fix().map(|fix| fix.declared_by.to_string())),
        })
    }
}
