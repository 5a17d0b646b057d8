//! The closures of views, each kind behind one type.

use leptos::prelude::{AnyView, IntoAny, IntoView};

/// A part of a view that is made anew when what it reads changes.
pub type Part = Box<dyn FnMut() -> AnyView + Send>;

/// An attribute that follows what it reads; none takes it away.
pub type Attr = Box<dyn FnMut() -> Option<String> + Send>;

/// What is done at an event.
pub type On<E> = Box<dyn FnMut(E)>;

/// A part of a view that is made anew when what it reads changes.
pub fn part<V: IntoView + 'static>(mut f: impl FnMut() -> V + Send + 'static) -> Part {
    Box::new(move || f().into_any())
}

/// An attribute that follows what it reads.
pub fn attr<T: AttrOf>(mut f: impl FnMut() -> T + Send + 'static) -> Attr {
    Box::new(move || f().into_attr())
}

/// What is done at an event.
pub fn on<E>(f: impl FnMut(E) + 'static) -> On<E> {
    Box::new(f)
}

/// What an attribute can be made of.
pub trait AttrOf {
    /// The attribute's text; none takes the attribute away.
    fn into_attr(self) -> Option<String>;
}

impl AttrOf for String {
    fn into_attr(self) -> Option<String> {
        Some(self)
    }
}

impl AttrOf for &'static str {
    fn into_attr(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl AttrOf for bool {
    fn into_attr(self) -> Option<String> {
        self.then(String::new)
    }
}

impl<T: AttrOf> AttrOf for Option<T> {
    fn into_attr(self) -> Option<String> {
        self.and_then(T::into_attr)
    }
}
