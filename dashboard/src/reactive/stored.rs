//! A value that is kept with its component and can be copied about; nobody is told when it changes.

use super::erased::{Eye, Hand, Reader, Writer, gone};
use leptos::prelude::{LocalStorage, StoredValue as LeptosStoredValue, UpdateValue, WithValue};
use std::any::Any;
use std::marker::PhantomData;

type Kept = LeptosStoredValue<Box<dyn Any>, LocalStorage>;

/// A value that is kept.
pub struct StoredValue<T>(Kept, PhantomData<fn() -> T>);

impl<T> Clone for StoredValue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StoredValue<T> {}

impl<T: 'static> StoredValue<T> {
    /// A value to begin with. It stays in its thread.
    pub fn new(value: T) -> Self {
        Self(LeptosStoredValue::new_local(Box::new(value)), PhantomData)
    }

    /// Changes the value in place; none once the component that made it is gone.
    pub fn try_update_value<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let mut writer = Writer::new(f);
        change(self.0, &mut writer);
        writer.result
    }

    /// The value, seen by `f`; none once the component that made it is gone.
    pub fn try_with_value<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
        let mut reader = Reader::new(f);
        look(self.0, &mut reader);
        reader.result
    }

    /// Changes the value in place.
    pub fn update_value(self, f: impl FnOnce(&mut T)) {
        self.try_update_value(f);
    }

    /// Replaces the value.
    pub fn set_value(self, value: T) {
        self.try_update_value(|old| *old = value);
    }

    /// The value, seen by `f`.
    pub fn with_value<U>(self, f: impl FnOnce(&T) -> U) -> U {
        self.try_with_value(f).unwrap_or_else(|| gone())
    }
}

impl<T: Clone + 'static> StoredValue<T> {
    /// The value.
    pub fn get_value(self) -> T {
        self.with_value(T::clone)
    }

    /// The value; none once the component that made it is gone.
    pub fn try_get_value(self) -> Option<T> {
        self.try_with_value(T::clone)
    }
}

fn change(kept: Kept, hand: &mut dyn Hand) {
    kept.try_update_value(|value| hand.change(&mut **value));
}

fn look(kept: Kept, eye: &mut dyn Eye) {
    kept.try_with_value(|value| eye.see(&**value));
}
