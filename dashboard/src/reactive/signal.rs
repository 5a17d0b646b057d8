//! Signals and memos that share one erased type of value.

use super::erased::{Erased, ReadAny, Reader, WriteAny, Writer, gone};
use super::view::{Attr, IntoAttr, attr, part};
use leptos::prelude::{
    AnyView, IntoAttributeValue, IntoRender, IntoView, Memo as LeptosMemo, RwSignal as LeptosRwSignal,
    Signal as LeptosSignal, Update, With, WithUntracked,
};
use std::marker::PhantomData;

/// A signal that can be read and written.
pub struct RwSignal<T>(LeptosRwSignal<Erased>, PhantomData<fn() -> T>);

/// A derived value. Its readers run again only when it changes.
pub struct Memo<T>(LeptosMemo<Erased>, PhantomData<fn() -> T>);

/// A read-only value from any source.
pub struct Signal<T>(LeptosSignal<Erased>, PhantomData<fn() -> T>);

/// One of Leptos's own signals.
trait Source: Copy {
    /// Reads the value, unless its component is removed. Tracked.
    fn track(self, reader: &mut dyn ReadAny);

    /// Reads the value, unless its component is removed. Not tracked.
    fn peek(self, reader: &mut dyn ReadAny);
}

macro_rules! readable {
    ($name:ident, $source:ident) => {
        impl Source for $source<Erased> {
            fn track(self, reader: &mut dyn ReadAny) {
                self.try_with(|value| reader.read(value.any()));
            }

            fn peek(self, reader: &mut dyn ReadAny) {
                self.try_with_untracked(|value| reader.read(value.any()));
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T: 'static> $name<T> {
            /// Applies `f` to the value. Returns `None` after its component is removed. Tracked.
            pub fn try_with<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
                read(self.0, Source::track, f)
            }

            /// Applies `f` to the value. Returns `None` after its component is removed. Not tracked.
            pub fn try_with_untracked<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
                read(self.0, Source::peek, f)
            }

            /// Applies `f` to the value. Panics after its component is removed. Tracked.
            pub fn with<U>(self, f: impl FnOnce(&T) -> U) -> U {
                self.try_with(f).unwrap_or_else(|| gone())
            }

            /// Applies `f` to the value. Panics after its component is removed. Not tracked.
            pub fn with_untracked<U>(self, f: impl FnOnce(&T) -> U) -> U {
                self.try_with_untracked(f).unwrap_or_else(|| gone())
            }
        }

        impl<T: Send + Sync + 'static> $name<T> {
            /// Returns a derived value. Its readers run again only when it changes.
            pub fn map<U>(self, f: impl Fn(&T) -> U + Send + Sync + 'static) -> Memo<U>
            where
                U: PartialEq + Send + Sync + 'static,
            {
                Memo(mapped(self.0.into(), Box::new(Mapped(f, PhantomData))), PhantomData)
            }
        }

        impl<T: Clone + 'static> $name<T> {
            /// Returns the value, or `None` after its component is removed. Tracked.
            pub fn try_get(self) -> Option<T> {
                self.try_with(T::clone)
            }

            /// Returns the value, or `None` after its component is removed. Not tracked.
            pub fn try_get_untracked(self) -> Option<T> {
                self.try_with_untracked(T::clone)
            }

            /// Returns the value. Panics after its component is removed. Tracked.
            pub fn get(self) -> T {
                self.with(T::clone)
            }

            /// Returns the value. Panics after its component is removed. Not tracked.
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

        impl<T: Clone + IntoAttr + 'static> IntoAttributeValue for $name<T> {
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

type Access<S> = fn(S, &mut dyn ReadAny);

fn read<S: Source, T: 'static, U>(source: S, access: Access<S>, f: impl FnOnce(&T) -> U) -> Option<U> {
    let mut reader = Reader::new(f);
    access(source, &mut reader);
    reader.result
}

impl<T: Send + Sync + 'static> RwSignal<T> {
    /// Creates a signal.
    pub fn new(value: T) -> Self {
        Self(LeptosRwSignal::new(Erased::new(value)), PhantomData)
    }

    /// Changes the value in place. Returns `None` after its component is removed.
    pub fn try_update<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let mut writer = Writer::new(f);
        write(self.0, &mut writer);
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

    /// Replaces the value. Returns the new value after the signal's component is removed.
    pub fn try_set(self, value: T) -> Option<T> {
        let mut value = Some(value);
        self.try_update(|old| value.take().map(|value| *old = value));
        value
    }
}

fn write(signal: LeptosRwSignal<Erased>, writer: &mut dyn WriteAny) {
    signal.try_update(|value| writer.write(value.any_mut()));
}

impl<T: Default + Send + Sync + 'static> Default for RwSignal<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// Creates a derived value. `f` receives the previous value.
    pub fn new(f: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        Self(memo(Box::new(Made(f, PhantomData))), PhantomData)
    }
}

fn memo(maker: Box<dyn Maker>) -> LeptosMemo<Erased> {
    LeptosMemo::new(move |before| maker.make(before))
}

impl<T: Send + Sync + 'static> Signal<T> {
    /// Creates a value that is computed for each reader.
    pub fn derive(f: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(derived(Box::new(Derived(f, PhantomData))), PhantomData)
    }

    /// Creates a constant value.
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

/// Computes a value. This and the traits below replace boxed `Fn`s, which would compile three functions per closure.
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
        Erased::compared((self.0)(before.and_then(Erased::get)))
    }
}

/// Computes a value from another one.
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
        Erased::compared((self.0)(value.get().unwrap_or_else(|| gone())))
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
