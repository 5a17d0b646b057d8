//! How many groups wait for the reader's approval: shown in the rail, the tab's title and the favicon on every page.

use crate::api;
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use crate::session::tab;
use domain::role::Permission;

/// The favicon with a dot, while something waits. The CSP allows images in `data:` URLs.
const ICON_DUE: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 20'%3E%3Crect width='20' height='20' rx='4' fill='%231a56c4'/%3E%3Cpath d='M4 6h12v8.5H4zM4 6.3l6 4.8 6-4.8' fill='none' stroke='%23fff' stroke-width='1.5' stroke-linejoin='round'/%3E%3Ccircle cx='15' cy='5' r='5' fill='%23a8200f' stroke='%23fff' stroke-width='1.5'/%3E%3C/svg%3E";

/// The number of groups that wait for the reader's approval.
#[derive(Clone, Copy)]
pub struct Due(RwSignal<u64>);

impl Due {
    /// Provides the number to all components below. It is 0 until [`Watch`] has asked.
    pub fn provide() -> Self {
        let due = Self(RwSignal::new(0));
        provide_context(due);
        due
    }

    /// Returns the number. Tracked.
    pub fn count(self) -> u64 {
        self.0.get()
    }

    /// Sets the number, from any answer that has it.
    pub fn set(self, count: u64) {
        if self.0.try_get_untracked().is_some_and(|known| known != count) {
            self.0.set(count);
        }
    }
}

/// Returns the number's context. Without one nothing waits.
pub fn due() -> Due {
    use_context().unwrap_or_else(|| Due(RwSignal::new(0)))
}

/// Asks the office while the reader is signed in and may approve.
#[component]
pub fn DueWatch() -> impl IntoView {
    let tab = tab();
    let due = due();
    let approves = Memo::new(move |_| tab.me().is_some_and(|me| me.role.may(Permission::Approve)));
    Effect::new(move || show_icon(due.count() > 0));
    on_cleanup(move || {
        due.0.try_set(0);
    });
    view! { <Show when=move || approves.get()><Ask due /></Show> }
}

#[component]
fn Ask(due: Due) -> impl IntoView {
    let live = Live::new(api::for_me, |_: &u64| Pace::Slow);
    let pulse = live.pulse();
    Effect::new(move || {
        // Each response counts, also an unchanged one: a page may have set another number since.
        if pulse.beats().is_some()
            && let Some(count) = live.get()
        {
            due.set(count);
        }
    });
}

fn show_icon(is_due: bool) {
    let icon = document().query_selector("link[rel=icon]").ok().flatten();
    if let Some(icon) = icon {
        // The built page names its icon with a hash; remember that name.
        let plain = icon.get_attribute("data-plain").or_else(|| icon.get_attribute("href"));
        let plain = plain.unwrap_or_default();
        let _ = icon.set_attribute("data-plain", &plain);
        let _ = icon.set_attribute("href", if is_due { ICON_DUE } else { &plain });
    }
}
