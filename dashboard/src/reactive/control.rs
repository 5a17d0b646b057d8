//! Conditional views and lists, with erased types.

use super::erased::Erased;
use super::signal::Memo;
use super::view::part;
use leptos::prelude::{
    AnyView, ChildrenFn, For as LeptosFor, ForProps as LeptosForProps, IntoAny, IntoView, ViewFn, component,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A boxed condition.
pub struct When(Box<dyn Fn() -> bool + Send + Sync>);

impl<F: Fn() -> bool + Send + Sync + 'static> From<F> for When {
    fn from(f: F) -> Self {
        Self(Box::new(f))
    }
}

/// Shows its children while a condition holds, and a fallback otherwise.
#[component]
pub fn Show(
    /// The condition.
    #[prop(into)]
    when: When,
    /// Shown while the condition does not hold.
    #[prop(optional, into)]
    fallback: ViewFn,
    children: ChildrenFn,
) -> impl IntoView {
    let holds = Memo::new(move |_| (when.0)());
    part(move || if holds.get() { children() } else { fallback.run() })
}

/// Shows a view for each item of a list. An item that stays in the list keeps its view when it moves.
#[component]
pub fn For<T, K, I, N>(
    /// The items.
    each: impl Fn() -> I + Send + Sync + 'static,
    /// Identifies an item.
    key: impl Fn(&T) -> K + Send + Sync + 'static,
    /// The view of an item.
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

/// A key of any type, compared by value.
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
