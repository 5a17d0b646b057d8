//! Signals, memos and what can be read, over one type of value.

use super::erased::{Erased, gone};
use super::view::{Attr, AttrOf, Part, attr, part};
use leptos::prelude::{
    IntoAttributeValue, IntoRender, IntoView, Memo as LeptosMemo, RwSignal as LeptosRwSignal, Signal as LeptosSignal,
    Update, With, WithUntracked,
};
use std::marker::PhantomData;

/// A value that is written.
pub struct RwSignal<T>(LeptosRwSignal<Erased>, PhantomData<fn() -> T>);

/// A value that is made of others, and runs its readers again only when it is another one.
pub struct Memo<T>(LeptosMemo<Erased>, PhantomData<fn() -> T>);

/// A value that is read, wherever it comes from.
pub struct Signal<T>(LeptosSignal<Erased>, PhantomData<fn() -> T>);

/// One of Leptos's own. Its readers are one type, so that reading is compiled once.
trait Source: Copy {
    /// Shows the value, if there still is one.
    fn look(self, see: &mut dyn FnMut(&Erased));

    /// The same, not tracked.
    fn peek(self, see: &mut dyn FnMut(&Erased));
}

macro_rules! readable {
    ($name:ident, $source:ident) => {
        impl Source for $source<Erased> {
            fn look(self, see: &mut dyn FnMut(&Erased)) {
                self.try_with(see);
            }

            fn peek(self, see: &mut dyn FnMut(&Erased)) {
                self.try_with_untracked(see);
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T: 'static> $name<T> {
            /// The value, seen by `f`; none once the component that made it is gone. Tracked.
            pub fn try_with<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
                seen(self.0, Source::look, f)
            }

            /// The same, not tracked.
            pub fn try_with_untracked<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
                seen(self.0, Source::peek, f)
            }

            /// The value, seen by `f`. Tracked.
            pub fn with<U>(self, f: impl FnOnce(&T) -> U) -> U {
                self.try_with(f).unwrap_or_else(|| gone())
            }

            /// The same, not tracked.
            pub fn with_untracked<U>(self, f: impl FnOnce(&T) -> U) -> U {
                self.try_with_untracked(f).unwrap_or_else(|| gone())
            }
        }

        impl<T: Clone + 'static> $name<T> {
            /// The value; none once the component that made it is gone. Tracked.
            pub fn try_get(self) -> Option<T> {
                self.try_with(T::clone)
            }

            /// The same, not tracked.
            pub fn try_get_untracked(self) -> Option<T> {
                self.try_with_untracked(T::clone)
            }

            /// The value. Tracked.
            pub fn get(self) -> T {
                self.with(T::clone)
            }

            /// The same, not tracked.
            pub fn get_untracked(self) -> T {
                self.with_untracked(T::clone)
            }
        }

        impl<T: Clone + IntoView + 'static> IntoRender for $name<T> {
            type Output = Part;

            fn into_render(self) -> Part {
                part(move || self.get())
            }
        }

        impl<T: Clone + AttrOf + 'static> IntoAttributeValue for $name<T> {
            type Output = Attr;

            fn into_attribute_value(self) -> Attr {
                attr(move || self.get())
            }
        }
    };
}

readable!(RwSignal, LeptosRwSignal);
readable!(Memo, LeptosMemo);
readable!(Signal, LeptosSignal);

type Look<S> = fn(S, &mut dyn FnMut(&Erased));

fn seen<S: Source, T: 'static, U>(source: S, look: Look<S>, f: impl FnOnce(&T) -> U) -> Option<U> {
    let (mut f, mut result) = (Some(f), None);
    look(source, &mut |value| {
        if let (Some(value), Some(f)) = (value.of(), f.take()) {
            result = Some(f(value));
        }
    });
    result
}

impl<T: Send + Sync + 'static> RwSignal<T> {
    /// A value to begin with.
    pub fn new(value: T) -> Self {
        Self(LeptosRwSignal::new(Erased::new(value)), PhantomData)
    }

    /// Changes the value in place; none once the component that made it is gone.
    pub fn try_update<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let (mut f, mut result) = (Some(f), None);
        change(self.0, &mut |value| {
            if let (Some(value), Some(f)) = (value.of_mut(), f.take()) {
                result = Some(f(value));
            }
        });
        result
    }

    /// Changes the value in place.
    pub fn update(self, f: impl FnOnce(&mut T)) {
        self.try_update(f);
    }

    /// Replaces the value.
    pub fn set(self, value: T) {
        self.try_set(value);
    }

    /// Replaces the value; gives it back once the component that made the signal is gone.
    pub fn try_set(self, value: T) -> Option<T> {
        let mut value = Some(value);
        change(self.0, &mut |old| {
            if let (Some(old), Some(value)) = (old.of_mut(), value.take()) {
                *old = value;
            }
        });
        value
    }
}

fn change(signal: LeptosRwSignal<Erased>, f: &mut dyn FnMut(&mut Erased)) {
    signal.try_update(f);
}

impl<T: Default + Send + Sync + 'static> Default for RwSignal<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// A value made of others; `f` is given the one before.
    pub fn new(f: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        Self(memo(Box::new(move |before| Erased::compared(f(before.and_then(Erased::of))))), PhantomData)
    }
}

fn memo(f: Box<dyn Fn(Option<&Erased>) -> Erased + Send + Sync>) -> LeptosMemo<Erased> {
    LeptosMemo::new(f)
}

impl<T: Send + Sync + 'static> Signal<T> {
    /// A value made anew for each reader.
    pub fn derive(f: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(derived(Box::new(move || Erased::new(f()))), PhantomData)
    }

    /// A value that never changes.
    pub fn stored(value: T) -> Self {
        Self(LeptosSignal::stored(Erased::new(value)), PhantomData)
    }
}

fn derived(f: Box<dyn Fn() -> Erased + Send + Sync>) -> LeptosSignal<Erased> {
    LeptosSignal::derive(f)
}

impl<T: Default + Send + Sync + 'static> Default for Signal<T> {
    fn default() -> Self {
        Self::stored(T::default())
    }
}

impl<T> From<Memo<T>> for Signal<T> {
    fn from(memo: Memo<T>) -> Self {
        Self(memo.0.into(), PhantomData)
    }
}

impl<T> From<RwSignal<T>> for Signal<T> {
    fn from(signal: RwSignal<T>) -> Self {
        Self(signal.0.into(), PhantomData)
    }
}

impl<T: Send + Sync + 'static> From<T> for Signal<T> {
    fn from(value: T) -> Self {
        Self::stored(value)
    }
}

impl From<&str> for Signal<String> {
    fn from(text: &str) -> Self {
        Self::stored(text.to_string())
    }
}
