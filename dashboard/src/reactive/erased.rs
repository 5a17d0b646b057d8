//! A value of any type, which still knows whether another one equals it.

use std::any::Any;

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

    /// The value, to be changed.
    pub(super) fn of_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.value.downcast_mut()
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

/// Whoever reads a value of a component that is gone has a fault: it says so instead of showing something else.
#[cold]
#[track_caller]
pub(super) fn gone() -> ! {
    panic!("a value was read after its component was gone")
}
