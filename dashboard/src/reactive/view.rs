//! Boxed closures of views: one type for each kind.

use leptos::prelude::{AnyView, IntoAny, IntoView};

/// A reactive attribute. `None` removes it.
pub type Attr = Box<dyn FnMut() -> Option<String> + Send>;

/// An event handler.
pub type On<E> = Box<dyn FnMut(E)>;

/// Returns a part of a view that is rendered again when a value that it reads changes.
pub fn part<V: IntoView + 'static>(f: impl FnMut() -> V + Send + 'static) -> AnyView {
    boxed_part(Box::new(f))
}

/// Returns a reactive attribute.
pub fn attr<T: IntoAttr>(f: impl FnMut() -> T + Send + 'static) -> Attr {
    boxed_attr(Box::new(Attribute(f)))
}

/// Returns an event handler.
pub fn on<E: 'static>(f: impl FnMut(E) + 'static) -> On<E> {
    boxed_on(Box::new(f))
}

// A boxed closure compiles to three functions, one for each way to call it. A trait of our own needs only one.

trait Render: Send {
    fn render(&mut self) -> AnyView;
}

impl<V: IntoView + 'static, F: FnMut() -> V + Send> Render for F {
    fn render(&mut self) -> AnyView {
        self().into_any()
    }
}

fn boxed_part(mut closure: Box<dyn Render>) -> AnyView {
    (move || closure.render()).into_any()
}

trait Value: Send {
    fn value(&mut self) -> Option<String>;
}

struct Attribute<F>(F);

impl<T: IntoAttr, F: FnMut() -> T + Send> Value for Attribute<F> {
    fn value(&mut self) -> Option<String> {
        (self.0)().into_attr()
    }
}

fn boxed_attr(mut closure: Box<dyn Value>) -> Attr {
    Box::new(move || closure.value())
}

trait Handle<E> {
    fn handle(&mut self, event: E);
}

impl<E, F: FnMut(E)> Handle<E> for F {
    fn handle(&mut self, event: E) {
        self(event);
    }
}

fn boxed_on<E: 'static>(mut closure: Box<dyn Handle<E>>) -> On<E> {
    Box::new(move |event| closure.handle(event))
}

/// Converts a value to an attribute.
pub trait IntoAttr {
    /// Returns the attribute's text. `None` removes the attribute.
    fn into_attr(self) -> Option<String>;
}

impl IntoAttr for String {
    fn into_attr(self) -> Option<String> {
        Some(self)
    }
}

impl IntoAttr for &'static str {
    fn into_attr(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl IntoAttr for bool {
    fn into_attr(self) -> Option<String> {
        self.then(String::new)
    }
}

impl<T: IntoAttr> IntoAttr for Option<T> {
    fn into_attr(self) -> Option<String> {
        self.and_then(T::into_attr)
    }
}
