//! A value that is kept with its component and can be copied about; nobody is told when it changes.

use super::erased::{Erased, gone};
use leptos::prelude::{LocalStorage, StoredValue as LeptosStoredValue, SyncStorage, UpdateValue, WithValue};
use std::any::Any;
use std::marker::PhantomData;

/// A value that is kept.
pub struct StoredValue<T, S = SyncStorage>(Kept, PhantomData<fn() -> (T, S)>);

#[derive(Clone, Copy)]
enum Kept {
    Anywhere(LeptosStoredValue<Erased>),
    Here(LeptosStoredValue<Box<dyn Any>, LocalStorage>),
}

impl<T, S> Clone for StoredValue<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for StoredValue<T, S> {}

impl<T: Send + Sync + 'static> StoredValue<T> {
    /// A value to begin with.
    pub fn new(value: T) -> Self {
        Self(Kept::Anywhere(LeptosStoredValue::new(Erased::new(value))), PhantomData)
    }
}

impl<T: 'static> StoredValue<T, LocalStorage> {
    /// A value that cannot leave its thread.
    pub fn new_local(value: T) -> Self {
        Self(Kept::Here(LeptosStoredValue::new_local(Box::new(value))), PhantomData)
    }
}

impl<T: 'static, S> StoredValue<T, S> {
    /// Changes the value in place; none once the component that made it is gone.
    pub fn try_update_value<U>(self, f: impl FnOnce(&mut T) -> U) -> Option<U> {
        let (mut f, mut result) = (Some(f), None);
        let mut change = |value: Option<&mut T>| {
            if let (Some(value), Some(f)) = (value, f.take()) {
                result = Some(f(value));
            }
        };
        match self.0 {
            Kept::Anywhere(kept) => change_anywhere(kept, &mut |value| change(value.of_mut())),
            Kept::Here(kept) => change_here(kept, &mut |value| change(value.downcast_mut())),
        }
        result
    }

    /// The value, seen by `f`; none once the component that made it is gone.
    pub fn try_with_value<U>(self, f: impl FnOnce(&T) -> U) -> Option<U> {
        let (mut f, mut result) = (Some(f), None);
        let mut see = |value: Option<&T>| {
            if let (Some(value), Some(f)) = (value, f.take()) {
                result = Some(f(value));
            }
        };
        match self.0 {
            Kept::Anywhere(kept) => see_anywhere(kept, &mut |value| see(value.of())),
            Kept::Here(kept) => see_here(kept, &mut |value| see(value.downcast_ref())),
        }
        result
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

impl<T: Clone + 'static, S> StoredValue<T, S> {
    /// The value.
    pub fn get_value(self) -> T {
        self.with_value(T::clone)
    }

    /// The value; none once the component that made it is gone.
    pub fn try_get_value(self) -> Option<T> {
        self.try_with_value(T::clone)
    }
}

fn change_anywhere(kept: LeptosStoredValue<Erased>, f: &mut dyn FnMut(&mut Erased)) {
    kept.try_update_value(f);
}

fn change_here(kept: LeptosStoredValue<Box<dyn Any>, LocalStorage>, f: &mut dyn FnMut(&mut dyn Any)) {
    kept.try_update_value(|value| f(&mut **value));
}

fn see_anywhere(kept: LeptosStoredValue<Erased>, f: &mut dyn FnMut(&Erased)) {
    kept.try_with_value(f);
}

fn see_here(kept: LeptosStoredValue<Box<dyn Any>, LocalStorage>, f: &mut dyn FnMut(&dyn Any)) {
    kept.try_with_value(|value| f(&**value));
}
