//! A list in pages: the first page is live, later pages are loaded on demand and do not change.

use crate::api::ApiError;
use crate::command::Command;
use crate::component::{Button, Problem};
use crate::poll::Live;
use crate::reactive::prelude::*;
use dashboard_model::timeline;
use domain::audit::AuditRecord;
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use wire::AuditAnswer;

type Split<P, R> = Arc<dyn Fn(&P) -> (Vec<R>, Option<String>) + Send + Sync>;
type KeyOf<R> = Arc<dyn Fn(&R) -> String + Send + Sync>;

/// A list in pages.
pub struct Paged<P: Send + Sync + 'static, R: Send + Sync + 'static> {
    live: Live<P>,
    split: StoredValue<Split<P, R>>,
    key: StoredValue<KeyOf<R>>,
    later: RwSignal<Vec<R>>,
    /// The cursor after the last loaded page; the outer `None` means that only the first page is loaded.
    next: RwSignal<Option<Option<String>>>,
}

impl<P: Send + Sync + 'static, R: Send + Sync + 'static> Clone for Paged<P, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Send + Sync + 'static, R: Send + Sync + 'static> Copy for Paged<P, R> {}

impl<P, R> Paged<P, R>
where
    P: Clone + PartialEq + Send + Sync + 'static,
    R: Clone + PartialEq + Send + Sync + 'static,
{
    /// Returns a list whose first page is a live value. `split` returns a page's rows and the cursor of the next page.
    pub fn new(
        live: Live<P>,
        split: impl Fn(&P) -> (Vec<R>, Option<String>) + Send + Sync + 'static,
        key: impl Fn(&R) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            live,
            split: StoredValue::new(Arc::new(split)),
            key: StoredValue::new(Arc::new(key)),
            later: RwSignal::new(Vec::new()),
            next: RwSignal::new(None),
        }
    }

    /// Returns all loaded rows, each once.
    pub fn rows(self) -> Memo<Vec<R>> {
        Memo::new(move |_| {
            let (split, key) = (self.split.get_value(), self.key.get_value());
            let mut rows = self.live.data().with(|page| page.as_ref().map(|page| split(page).0).unwrap_or_default());
            let known: HashSet<String> = rows.iter().map(|row| key(row)).collect();
            self.later.with(|later| rows.extend(later.iter().filter(|row| !known.contains(&key(row))).cloned()));
            rows
        })
    }

    /// Returns the cursor of the next page, or `None` on the last page.
    pub fn next(self) -> Memo<Option<String>> {
        Memo::new(move |_| match self.next.get() {
            Some(next) => next,
            None => {
                let split = self.split.get_value();
                self.live.data().with(|page| page.as_ref().and_then(|page| split(page).1))
            }
        })
    }

    /// Loads further pages one after another while `is_wanted` says so, until the last page or an error.
    pub fn fill<A, F>(self, command: Command, is_wanted: impl Fn() -> bool + Send + Sync + 'static, load: A)
    where
        A: Fn(String) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Option<P>, ApiError>> + 'static,
    {
        let next = self.next();
        Effect::new(move || {
            let is_idle = !command.busy().get() && command.error().with(Option::is_none);
            if is_wanted()
                && is_idle
                && let Some(cursor) = next.get()
            {
                command.run(load(cursor), move |page: Option<P>| {
                    if let Some(page) = page {
                        self.append(&page);
                    }
                });
            }
        });
    }

    fn append(self, page: &P) {
        let (rows, next) = self.split.get_value()(page);
        let key = self.key.get_value();
        self.later.try_update(|later| {
            let known: HashSet<String> = later.iter().map(|row| key(row)).collect();
            later.extend(rows.into_iter().filter(|row| !known.contains(&key(row))));
        });
        self.next.try_set(Some(next));
    }
}

impl Paged<AuditAnswer, AuditRecord> {
    /// Returns a list of audit records.
    pub fn audit(live: Live<AuditAnswer>) -> Self {
        let key = |record: &AuditRecord| format!("{} {} {}", record.at.as_ms(), timeline::what(record), record.detail);
        Self::new(live, |page| (page.records.clone(), page.next.clone()), key)
    }
}

/// Shows the button that loads the next page.
#[component]
pub fn More<P, R, A, F>(
    /// The list.
    paged: Paged<P, R>,
    /// The plural noun of its rows.
    what: &'static str,
    /// Loads the page of a cursor.
    load: A,
) -> impl IntoView
where
    P: Clone + PartialEq + Send + Sync + 'static,
    R: Clone + PartialEq + Send + Sync + 'static,
    A: Fn(String) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Option<P>, ApiError>> + 'static,
{
    let next = paged.next();
    let command = Command::new();
    let press = Callback::new(move |()| {
        if let Some(cursor) = next.get_untracked() {
            command.run(load(cursor), move |page: Option<P>| {
                if let Some(page) = page {
                    paged.append(&page);
                }
            });
        }
    });
    view! {
        <Show when=move || next.with(Option::is_some)>
            <div class="more">
                <Button press busy=command.busy()>{format!("Load more {what}")}</Button>
                <Problem error=command.error() />
            </div>
        </Show>
    }
}
