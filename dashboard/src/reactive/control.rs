//! Views that come and go: one behind a condition, and one for each of a list.

use super::erased::Erased;
use super::signal::Memo;
use super::view::part;
use leptos::prelude::{
    AnyView, ChildrenFn, For as LeptosFor, ForProps as LeptosForProps, IntoAny, IntoView, ViewFn, component,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A condition.
pub struct When(Box<dyn Fn() -> bool + Send + Sync>);

impl<F: Fn() -> bool + Send + Sync + 'static> From<F> for When {
    fn from(f: F) -> Self {
        Self(Box::new(f))
    }
}

/// Its children while a condition holds, something else while it does not.
#[component]
pub fn Show(
    /// The condition.
    #[prop(into)]
    when: When,
    /// What is shown while it does not hold.
    #[prop(optional, into)]
    fallback: ViewFn,
    children: ChildrenFn,
) -> impl IntoView {
    let holds = Memo::new(move |_| (when.0)());
    part(move || if holds.get() { children() } else { fallback.run() })
}

/// A view for each of a list; one that stays in the list keeps its view, wherever it stands.
#[component]
pub fn For<T, K, I, N>(
    /// The list.
    each: impl Fn() -> I + Send + Sync + 'static,
    /// What tells one from another.
    key: impl Fn(&T) -> K + Send + Sync + 'static,
    /// The view of one.
    children: impl Fn(T) -> N + Send + Sync + 'static,
) -> impl IntoView
where
    T: Send + Sync + 'static,
    K: Eq + Hash + Send + Sync + 'static,
    I: IntoIterator<Item = T>,
    N: IntoView + 'static,
{
    let each = move || each().into_iter().map(|item| (Key::new(key(&item)), Erased::new(item))).collect();
    let child = move |item: Erased| item.into().map(|item| children(item).into_any());
    rows(Box::new(each), Arc::new(child))
}

type Each = Box<dyn Fn() -> Vec<(Key, Erased)> + Send + Sync>;
type Child = Arc<dyn Fn(Erased) -> Option<AnyView> + Send + Sync>;

fn rows(each: Each, child: Child) -> AnyView {
    let props = LeptosForProps::builder()
        .each(each)
        .key(|(key, _): &(Key, Erased)| key.clone())
        .children(move |(_, item): (Key, Erased)| child(item))
        .build();
    LeptosFor(props).into_any()
}

/// A key of any type.
#[derive(Clone)]
struct Key {
    value: Arc<Erased>,
    hash: u64,
}

impl Key {
    fn new<K: Eq + Hash + Send + Sync + 'static>(key: K) -> Self {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        Self { value: Arc::new(Erased::compared(key)), hash: hasher.finish() }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}
