//! The group that a page is about: its value, and what may be done with it by the person here.

use crate::component::Asker;
use crate::poll::{Live, Pulse};
use crate::reactive::prelude::*;
use crate::session;
use domain::id::GroupId;
use domain::role::Permission;
use std::sync::Arc;
use wire::{GroupDetail, ReplayView};

/// Why nothing can be done on the page of a fingerprint that is merged.
const MERGED: &str = "This is seen as one cause with another group: act there.";

/// The group of the page.
#[derive(Clone, Copy)]
pub(super) struct Here {
    live: Live<GroupDetail>,
    detail: Memo<Arc<GroupDetail>>,
    id: StoredValue<GroupId>,
    tab: session::Tab,
}

impl Here {
    /// The group, once it is known.
    pub(super) fn new(live: Live<GroupDetail>, id: GroupId) -> Option<Self> {
        let first = Arc::new(live.data().get_untracked()?);
        let detail = Memo::new(move |before: Option<&Arc<GroupDetail>>| match live.get() {
            Some(detail) => Arc::new(detail),
            None => before.cloned().unwrap_or_else(|| first.clone()),
        });
        Some(Self { live, detail, id: StoredValue::new(id), tab: session::tab() })
    }

    /// Its id.
    pub(super) fn id(self) -> GroupId {
        self.id.get_value()
    }

    /// The whole value. Not tracked.
    pub(super) fn now(self) -> Arc<GroupDetail> {
        self.detail.get_untracked()
    }

    /// Part of the value; its readers run again only when that part changes.
    pub(super) fn part<U: Clone + PartialEq + Send + Sync + 'static>(
        self,
        of: impl Fn(&GroupDetail) -> U + Send + Sync + 'static,
    ) -> Memo<U> {
        self.detail.map(move |detail| of(detail))
    }

    /// Takes the answer to something that the person did.
    pub(super) fn put(self, detail: GroupDetail) {
        self.live.put(detail);
    }

    /// Changes the value at once as the person's act has changed it, and asks for the whole.
    pub(super) fn patch(self, change: impl FnOnce(&mut GroupDetail)) {
        let mut detail = GroupDetail::clone(&self.now());
        change(&mut detail);
        self.live.put(detail);
        self.live.refresh();
    }

    /// Takes a replay as it is now.
    pub(super) fn put_replay(self, view: ReplayView) {
        self.patch(|detail| detail.replay = Some(view));
    }

    /// How fresh the value is.
    pub(super) fn pulse(self) -> Pulse {
        self.live.pulse()
    }

    /// Asks for the value now.
    pub(super) fn hurry(self) {
        self.live.hurry();
    }

    /// Why the person here may not do something now; none if they may.
    pub(super) fn why_not(
        self,
        permission: Permission,
        more: impl Fn(&GroupDetail) -> Option<String> + Send + Sync + 'static,
    ) -> Signal<Option<String>> {
        let pulse = self.live.pulse();
        Signal::derive(move || {
            let more = || self.detail.with(|detail| more(detail));
            let merged = || self.detail.with(|detail| detail.merged_into.as_ref().map(|_| MERGED.to_string()));
            pulse.why_not_write().or_else(|| self.tab.why_not(permission)).or_else(merged).or_else(more)
        })
    }

    /// Who asks for a consent.
    pub(super) fn asker(self) -> Signal<Asker> {
        Signal::derive(move || Asker {
            me: self.tab.me().map(|me| me.name.to_string()),
            declarer: self.detail.with(|d| d.row.state.fix().map(|fix| fix.declared_by.to_string())),
        })
    }
}
