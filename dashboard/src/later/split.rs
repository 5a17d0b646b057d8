//! The functions at which the program is cut. What only they call goes into the part that they name.
//!
//! Leptos's own `#[lazy]` is not used: a part that cannot be loaded would end the program.

use crate::component::Help;
use crate::page::{GroupPage, IdleWarning, PolicyPage, ReplayPage, ReplaysPage, SignInPage, SignedOut};
use crate::reactive::prelude::*;
use dashboard_model::route::PageKey;
use domain::time::Timestamp;

pub use cut::{help, load_help, load_policy, load_sign_in, load_warning, load_work, policy, sign_in, warning, work};

/// A part could not be loaded. The browser's console has the reason.
#[derive(Clone, Copy, Debug)]
pub struct NotLoaded;

/// A page, unless its part could not be loaded.
type Page = Result<AnyView, NotLoaded>;

/// The pages of groups and replays.
fn work_page(page: PageKey) -> Page {
    Ok(match page {
        PageKey::Group(id) => view! { <GroupPage id /> }.into_any(),
        PageKey::Replay(id) => view! { <ReplayPage id /> }.into_any(),
        _ => view! { <ReplaysPage /> }.into_any(),
    })
}

/// The help. It is in the same part, so that the first one has no dialog.
fn help_dialog(open: RwSignal<bool>, page: Signal<PageKey>) -> Page {
    Ok(view! { <Help open page /> }.into_any())
}

/// The warning before a session ends for lack of input.
fn warning_dialog(open: RwSignal<bool>, ends_at: RwSignal<Timestamp>) -> Page {
    Ok(view! { <IdleWarning open ends_at /> }.into_any())
}

/// The page of the policy.
fn policy_page() -> Page {
    Ok(view! { <PolicyPage /> }.into_any())
}

/// The pages of people who are not signed in.
fn sign_in_page(page: PageKey) -> Page {
    Ok(match page {
        PageKey::SignIn => view! { <SignInPage /> }.into_any(),
        _ => view! { <SignedOut /> }.into_any(),
    })
}

#[cfg(feature = "split")]
mod cut {
    use super::{NotLoaded, Page, PageKey, RwSignal, Signal, Timestamp};
    use super::{help_dialog, policy_page, sign_in_page, warning_dialog, work_page};
    use leptos::wasm_split::{SplitLoaderError, wasm_split};

    impl From<SplitLoaderError> for NotLoaded {
        fn from(_: SplitLoaderError) -> Self {
            Self
        }
    }

    #[wasm_split(work, wasm_split_path = leptos::wasm_split, fallible, preload(load_work))]
    pub fn work(page: PageKey) -> Page {
        work_page(page)
    }

    // Each function knows by itself whether its part is there, although both are in one file.
    #[wasm_split(work, wasm_split_path = leptos::wasm_split, fallible, preload(load_help))]
    pub fn help(open: RwSignal<bool>, page: Signal<PageKey>) -> Page {
        help_dialog(open, page)
    }

    #[wasm_split(work, wasm_split_path = leptos::wasm_split, fallible, preload(load_warning))]
    pub fn warning(open: RwSignal<bool>, ends_at: RwSignal<Timestamp>) -> Page {
        warning_dialog(open, ends_at)
    }

    #[wasm_split(policy, wasm_split_path = leptos::wasm_split, fallible, preload(load_policy))]
    pub fn policy() -> Page {
        policy_page()
    }

    #[wasm_split(sign_in, wasm_split_path = leptos::wasm_split, fallible, preload(load_sign_in))]
    pub fn sign_in(page: PageKey) -> Page {
        sign_in_page(page)
    }
}

#[cfg(not(feature = "split"))]
mod cut {
    use super::{NotLoaded, Page, PageKey, RwSignal, Signal, Timestamp};
    use super::{help_dialog, policy_page, sign_in_page, warning_dialog, work_page};

    type Loaded = Result<(), NotLoaded>;

    pub async fn load_work() -> Loaded {
        Ok(())
    }

    pub async fn load_help() -> Loaded {
        Ok(())
    }

    pub async fn load_warning() -> Loaded {
        Ok(())
    }

    pub async fn load_policy() -> Loaded {
        Ok(())
    }

    pub async fn load_sign_in() -> Loaded {
        Ok(())
    }

    pub async fn work(page: PageKey) -> Page {
        work_page(page)
    }

    pub async fn help(open: RwSignal<bool>, page: Signal<PageKey>) -> Page {
        help_dialog(open, page)
    }

    pub async fn warning(open: RwSignal<bool>, ends_at: RwSignal<Timestamp>) -> Page {
        warning_dialog(open, ends_at)
    }

    pub async fn policy() -> Page {
        policy_page()
    }

    pub async fn sign_in(page: PageKey) -> Page {
        sign_in_page(page)
    }
}
