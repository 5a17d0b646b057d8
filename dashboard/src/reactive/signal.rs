//! Signals, memos and what can be read, over one type of value.

use super::erased::{Erased, Eye, Hand, Reader, Writer, gone};
use super::view::{Attr, AttrOf, attr, part};
use leptos::prelude::{
    AnyView, IntoAttributeValue, IntoRender, IntoView, Memo as LeptosMemo, RwSignal as LeptosRwSignal,
    Signal as LeptosSignal, Update, With, WithUntracked,
};
use std::marker::PhantomData;

/// A value that is written.
pub struct RwSignal<T>(LeptosRwSignal<Erased>, PhantomData<fn() -> T>);

/// A value that is made of others, and runs its readers again only when it is another one.
pub struct Memo<T>(LeptosMemo<Erased>, PhantomData<fn() -> T>);

/// A value that is read, wherever it comes from.
pub struct Signal<T>(LeptosSignal<Erased>, PhantomData<fn() -> T>);

/// One of Leptos's own.
trait Source: Copy {
    /// Shows the value, if there still is one.
    fn look(self, eye: &mut dyn Eye);

    /// The same, not tracked.
    fn peek(self, eye: &mut dyn Eye);
}

macro_rules! readable {
    ($name:ident, $source:ident) => {
        impl Source for $source<Erased> {
            fn look(self, eye: &mut dyn Eye) {
                self.try_with(|value| eye.see(value.any()));
            }

            fn peek(self, eye: &mut dyn Eye) {
                self.try_with_untracked(|value| eye.see(value.any()));
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

        impl<T: Send + Sync + 'static> $name<T> {
            /// A value made of this one; its readers run again only when it is another one.
            pub fn map<U>(self, f: impl Fn(&T) -> U + Send + Sync + 'static) -> Memo<U>
            where
                U: PartialEq + Send + Sync + 'static,
            {
                Memo(mapped(self.0.into(), Box::new(Mapped(f, PhantomData))), PhantomData)
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
            type Output = AnyView;

            fn into_render(self) -> AnyView {
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

type Look<S> = fn(S, &mut dyn Eye);

fn seen<S: Source, T: 'static, U>(source: S, look: Look<S>, f: impl FnOnce(&T) -> U) -> Option<U> {
    let mut reader = Reader::new(f);
    look(source, &mut reader);
    reader.result
}

impl<T: Send + Sync + 'static> RwSignal<T> {
    /// A value to begin with.
    pub fn new(value: T) -> Self {
        Self(LeptosRwSignal::new(Erased::new(value)), PhantomData)
    }

    /// Changes the value in place; none once the component that made it is gone.
    pub fn try_update<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let mut writer = Writer::new(f);
        change(self.0, &mut writer);
        writer.result
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
        self.try_update(|old| value.take().map(|value| *old = value));
        value
    }
}

fn change(signal: LeptosRwSignal<Erased>, hand: &mut dyn Hand) {
    signal.try_update(|value| hand.change(value.any_mut()));
}

impl<T: Default + Send + Sync + 'static> Default for RwSignal<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// A value made of others; `f` is given the one before.
    pub fn new(f: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        Self(memo(Box::new(Made(f, PhantomData))), PhantomData)
    }
}

fn memo(maker: Box<dyn Maker>) -> LeptosMemo<Erased> {
    LeptosMemo::new(move |before| maker.make(before))
}

impl<T: Send + Sync + 'static> Signal<T> {
    /// A value made anew for each reader.
    pub fn derive(f: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(derived(Box::new(Derived(f, PhantomData))), PhantomData)
    }

    /// A value that never changes.
    pub fn stored(value: T) -> Self {
        Self(LeptosSignal::stored(Erased::new(value)), PhantomData)
    }
}

fn derived(maker: Box<dyn Maker>) -> LeptosSignal<Erased> {
    LeptosSignal::derive(move || maker.make(None))
}

fn mapped(from: LeptosSignal<Erased>, mapper: Box<dyn Mapper>) -> LeptosMemo<Erased> {
    LeptosMemo::new(move |_| from.with(|value| mapper.map(value)))
}

/// What makes a value. A trait of its own, as each of these below: a boxed `Fn` would bring three functions for each
/// closure.
trait Maker: Send + Sync {
    fn make(&self, before: Option<&Erased>) -> Erased;
}

struct Made<F, T>(F, PhantomData<fn() -> T>);

impl<T, F> Maker for Made<F, T>
where
    T: PartialEq + Send + Sync + 'static,
    F: Fn(Option<&T>) -> T + Send + Sync,
{
    fn make(&self, before: Option<&Erased>) -> Erased {
        Erased::compared((self.0)(before.and_then(Erased::of)))
    }
}

/// What makes a value of another one.
trait Mapper: Send + Sync {
    fn map(&self, value: &Erased) -> Erased;
}

struct Mapped<F, T, U>(F, PhantomData<fn(T) -> U>);

impl<T, U, F> Mapper for Mapped<F, T, U>
where
    T: 'static,
    U: PartialEq + Send + Sync + 'static,
    F: Fn(&T) -> U + Send + Sync,
{
    fn map(&self, value: &Erased) -> Erased {
        Erased::compared((self.0)(value.of().unwrap_or_else(|| gone())))
    }
}

struct Derived<F, T>(F, PhantomData<fn() -> T>);

impl<T: Send + Sync + 'static, F: Fn() -> T + Send + Sync> Maker for Derived<F, T> {
    fn make(&self, _: Option<&Erased>) -> Erased {
        Erased::new((self.0)())
    }
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
