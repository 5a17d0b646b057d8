//! A value of any type, which still knows whether another one equals it.

use std::any::Any;
use std::marker::PhantomData;

/// A value of any type.
pub(super) struct Erased {
    value: Box<dyn Any + Send + Sync>,
    same: fn(&dyn Any, &dyn Any) -> bool,
}

impl Erased {
    /// A value that equals no other: writing it is a change.
    pub(super) fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Self { value: Box::new(value), same: |_, _| false }
    }

    /// A value that is compared with the one it replaces.
    pub(super) fn compared<T: PartialEq + Send + Sync + 'static>(value: T) -> Self {
        Self { value: Box::new(value), same: same::<T> }
    }

    /// The value. `T` is what it was made of: whoever holds an erased value holds its type beside it.
    pub(super) fn of<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }

    /// The value without its type.
    pub(super) fn any(&self) -> &dyn Any {
        &*self.value
    }

    /// The value without its type, to be changed.
    pub(super) fn any_mut(&mut self) -> &mut dyn Any {
        &mut *self.value
    }

    /// The value itself.
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
pub(super) trait Eye {
    fn see(&mut self, value: &dyn Any);
}

/// Changes a value of any type.
pub(super) trait Hand {
    fn change(&mut self, value: &mut dyn Any);
}

/// Reads a value once, by a closure.
pub(super) struct Reader<T, F, U> {
    f: Option<F>,
    pub(super) result: Option<U>,
    of: PhantomData<fn(T)>,
}

impl<T, U, F: FnOnce(&T) -> U> Reader<T, F, U> {
    pub(super) fn new(f: F) -> Self {
        Self { f: Some(f), result: None, of: PhantomData }
    }
}

impl<T: 'static, U, F: FnOnce(&T) -> U> Eye for Reader<T, F, U> {
    fn see(&mut self, value: &dyn Any) {
        if let (Some(value), Some(f)) = (value.downcast_ref(), self.f.take()) {
            self.result = Some(f(value));
        }
    }
}

/// Changes a value once, by a closure.
pub(super) struct Writer<T, F, U> {
    f: Option<F>,
    pub(super) result: Option<U>,
    of: PhantomData<fn(T)>,
}

impl<T, U, F: FnOnce(&mut T) -> U> Writer<T, F, U> {
    pub(super) fn new(f: F) -> Self {
        Self { f: Some(f), result: None, of: PhantomData }
    }
}

impl<T: 'static, U, F: FnOnce(&mut T) -> U> Hand for Writer<T, F, U> {
    fn change(&mut self, value: &mut dyn Any) {
        if let (Some(value), Some(f)) = (value.downcast_mut(), self.f.take()) {
            self.result = Some(f(value));
        }
    }
}

/// Whoever reads a value of a component that is gone has a fault: it says so instead of showing something else.
#[cold]
#[track_caller]
pub(super) fn gone() -> ! {
    panic!("a value was read after its component was gone")
}
