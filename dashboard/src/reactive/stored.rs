//! A value that lives with its component. Its handle is `Copy`, and changes are not tracked.

use super::erased::{ReadAny, Reader, WriteAny, Writer, gone};
use leptos::prelude::{LocalStorage, StoredValue as LeptosStoredValue, UpdateValue, WithValue};
use std::any::Any;
use std::marker::PhantomData;

type Stored = LeptosStoredValue<Box<dyn Any>, LocalStorage>;

/// A stored value.
pub struct StoredValue<T>(Stored, PhantomData<fn() -> T>);

impl<T> Clone for StoredValue<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StoredValue<T> {}

impl<T: 'static> StoredValue<T> {
    /// Stores a value. It stays in its thread.
    pub fn new(value: T) -> Self {
        Self(LeptosStoredValue::new_local(Box::new(value)), PhantomData)
    }

    /// Changes the value in place. Returns `None` after its component is removed.
    pub fn try_update_value<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let mut writer = Writer::new(f);
        write(self.0, &mut writer);
        writer.result
    }

    /// Applies `f` to the value. Returns `None` after its component is removed.
    pub fn try_with_value<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
        let mut reader = Reader::new(f);
        read(self.0, &mut reader);
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

    /// Applies `f` to the value. Panics after its component is removed.
    pub fn with_value<U>(self, f: impl FnOnce(&T) -> U) -> U {
        self.try_with_value(f).unwrap_or_else(|| gone())
    }
}

impl<T: Clone + 'static> StoredValue<T> {
    /// Returns the value. Panics after its component is removed.
    pub fn get_value(self) -> T {
        self.with_value(T::clone)
    }

    /// Returns the value, or `None` after its component is removed.
    pub fn try_get_value(self) -> Option<T> {
        self.try_with_value(T::clone)
    }
}

fn write(stored: Stored, writer: &mut dyn WriteAny) {
    stored.try_update_value(|value| writer.write(&mut **value));
}

fn read(stored: Stored, reader: &mut dyn ReadAny) {
    stored.try_with_value(|value| reader.read(&**value));
}
