//! A value of any type that can still be compared with another one.

use std::any::Any;
use std::marker::PhantomData;

/// A value of any type.
pub(super) struct Erased {
    value: Box<dyn Any + Send + Sync>,
    same: fn(&dyn Any, &dyn Any) -> bool,
}

impl Erased {
    /// Wraps a value that equals no other, so that every write is a change.
    pub(super) fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Self { value: Box::new(value), same: |_, _| false }
    }

    /// Wraps a value that is compared with the one it replaces.
    pub(super) fn compared<T: PartialEq + Send + Sync + 'static>(value: T) -> Self {
        Self { value: Box::new(value), same: same::<T> }
    }

    /// Returns the value, or `None` if its type is not `T`. Holders of an erased value keep its type beside it.
    pub(super) fn get<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }

    /// Returns the value without its type.
    pub(super) fn any(&self) -> &dyn Any {
        &*self.value
    }

    /// Returns the value without its type, mutably.
    pub(super) fn any_mut(&mut self) -> &mut dyn Any {
        &mut *self.value
    }

    /// Unwraps the value, or returns `None` if its type is not `T`.
    pub(super) fn into<T: 'static>(self) -> Option<T> {
        self.value.downcast().ok().map(|value| *value)
    }
}

impl PartialEq for Erased {
    fn eq(&self, other: &Self) -> bool {
        (self.same)(&*self.value, &*other.value)
    }
}

fn same<T: PartialEq + 'static>(one: &dyn Any, other: &dyn Any) -> bool {
    match (one.downcast_ref::<T>(), other.downcast_ref::<T>()) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Reads a value of any type.
pub(super) trait ReadAny {
    fn read(&mut self, value: &dyn Any);
}

/// Changes a value of any type.
pub(super) trait WriteAny {
    fn write(&mut self, value: &mut dyn Any);
}

/// Reads a value once with a closure.
pub(super) struct Reader<T, F, U> {
    f: Option<F>,
    pub(super) result: Option<U>,
    value: PhantomData<fn(T)>,
}

impl<T, U, F: FnOnce(&T) -> U> Reader<T, F, U> {
    pub(super) fn new(f: F) -> Self {
        Self { f: Some(f), result: None, value: PhantomData }
    }
}

impl<T: 'static, U, F: FnOnce(&T) -> U> ReadAny for Reader<T, F, U> {
    fn read(&mut self, value: &dyn Any) {
        if let (Some(value), Some(f)) = (value.downcast_ref(), self.f.take()) {
            self.result = Some(f(value));
        }
    }
}

/// Changes a value once with a closure.
pub(super) struct Writer<T, F, U> {
    f: Option<F>,
    pub(super) result: Option<U>,
    value: PhantomData<fn(T)>,
}

impl<T, U, F: FnOnce(&mut T) -> U> Writer<T, F, U> {
    pub(super) fn new(f: F) -> Self {
        Self { f: Some(f), result: None, value: PhantomData }
    }
}

impl<T: 'static, U, F: FnOnce(&mut T) -> U> WriteAny for Writer<T, F, U> {
    fn write(&mut self, value: &mut dyn Any) {
        if let (Some(value), Some(f)) = (value.downcast_mut(), self.f.take()) {
            self.result = Some(f(value));
        }
    }
}

/// Panics: reading a value of a removed component is a bug, and must not show something else.
#[cold]
#[track_caller]
pub(super) fn gone() -> ! {
    panic!("a value was read after its component was removed")
}
