//! A list in pages: the first stays live, the ones after it are asked for and stay as they were.

use crate::api::ApiError;
use crate::ask::Ask;
use crate::component::{Button, Problem};
use crate::poll::Live;
use crate::reactive::prelude::*;
use dashboard_model::timeline;
use domain::audit::AuditRecord;
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use wire::AuditPage;

type Parts<P, R> = Arc<dyn Fn(&P) -> (Vec<R>, Option<String>) + Send + Sync>;
type KeyOf<R> = Arc<dyn Fn(&R) -> String + Send + Sync>;

/// A list in pages.
pub struct Paged<P: Send + Sync + 'static, R: Send + Sync + 'static> {
    live: Live<P>,
    parts: StoredValue<Parts<P, R>>,
    key: StoredValue<KeyOf<R>>,
    later: RwSignal<Vec<R>>,
    /// What to ask with for the page after the last one; none before the second was asked for.
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
    /// A list whose first page is this live value; `parts` gives a page's rows and what to ask for the next with.
    pub fn new(
        live: Live<P>,
        parts: impl Fn(&P) -> (Vec<R>, Option<String>) + Send + Sync + 'static,
        key: impl Fn(&R) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            live,
            parts: StoredValue::new(Arc::new(parts)),
            key: StoredValue::new(Arc::new(key)),
            later: RwSignal::new(Vec::new()),
            next: RwSignal::new(None),
        }
    }

    /// All rows that were asked for, each once.
    pub fn rows(self) -> Memo<Vec<R>> {
        Memo::new(move |_| {
            let (parts, key) = (self.parts.get_value(), self.key.get_value());
            let mut rows = self.live.data().with(|page| page.as_ref().map(|page| parts(page).0).unwrap_or_default());
            let known: HashSet<String> = rows.iter().map(|row| key(row)).collect();
            self.later.with(|later| rows.extend(later.iter().filter(|row| !known.contains(&key(row))).cloned()));
            rows
        })
    }

    /// What to ask for the next page with; none on the last one.
    pub fn next(self) -> Memo<Option<String>> {
        Memo::new(move |_| match self.next.get() {
            Some(next) => next,
            None => {
                let parts = self.parts.get_value();
                self.live.data().with(|page| page.as_ref().and_then(|page| parts(page).1))
            }
        })
    }

    fn take(self, page: &P) {
        let (rows, next) = self.parts.get_value()(page);
        let key = self.key.get_value();
        self.later.try_update(|later| {
            let known: HashSet<String> = later.iter().map(|row| key(row)).collect();
            later.extend(rows.into_iter().filter(|row| !known.contains(&key(row))));
        });
        self.next.try_set(Some(next));
    }
}

impl Paged<AuditPage, AuditRecord> {
    /// Entries of the audit.
    pub fn audit(live: Live<AuditPage>) -> Self {
        let key = |record: &AuditRecord| format!("{} {} {}", record.at.as_ms(), timeline::what(record), record.detail);
        Self::new(live, |page| (page.records.clone(), page.next.clone()), key)
    }
}

/// The button for the next page.
#[component]
pub fn More<P, R, A, F>(
    /// The list.
    paged: Paged<P, R>,
    /// What its rows are.
    what: &'static str,
    /// Asks for the page of a cursor.
    ask: A,
) -> impl IntoView
where
    P: Clone + PartialEq + Send + Sync + 'static,
    R: Clone + PartialEq + Send + Sync + 'static,
    A: Fn(String) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Option<P>, ApiError>> + 'static,
{
    let next = paged.next();
    let asking = Ask::new();
    let press = Callback::new(move |()| {
        if let Some(cursor) = next.get_untracked() {
            asking.run(ask(cursor), move |page: Option<P>| {
                if let Some(page) = page {
                    paged.take(&page);
                }
            });
        }
    });
    view! {
        <Show when=move || next.with(Option::is_some)>
            <div class="more">
                <Button press busy=asking.busy()>{format!("More {what}")}</Button>
                <Problem error=asking.error() />
            </div>
        </Show>
    }
}
