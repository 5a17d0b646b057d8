//! The closures of views, each kind behind one type.

use leptos::prelude::{AnyView, IntoAny, IntoView};

/// An attribute that follows what it reads; none takes it away.
pub type Attr = Box<dyn FnMut() -> Option<String> + Send>;

/// What is done at an event.
pub type On<E> = Box<dyn FnMut(E)>;

/// A part of a view that is made anew when what it reads changes.
pub fn part<V: IntoView + 'static>(f: impl FnMut() -> V + Send + 'static) -> AnyView {
    part_of(Box::new(f))
}

/// An attribute that follows what it reads.
pub fn attr<T: AttrOf>(f: impl FnMut() -> T + Send + 'static) -> Attr {
    attr_of(Box::new(Follows(f)))
}

/// What is done at an event.
pub fn on<E: 'static>(f: impl FnMut(E) + 'static) -> On<E> {
    on_of(Box::new(f))
}

// A boxed closure brings functions for calling it in each of three ways. A trait of our own has one way.

trait Shows: Send {
    fn show(&mut self) -> AnyView;
}

impl<V: IntoView + 'static, F: FnMut() -> V + Send> Shows for F {
    fn show(&mut self) -> AnyView {
        self().into_any()
    }
}

fn part_of(mut shows: Box<dyn Shows>) -> AnyView {
    (move || shows.show()).into_any()
}

trait Says: Send {
    fn say(&mut self) -> Option<String>;
}

struct Follows<F>(F);

impl<T: AttrOf, F: FnMut() -> T + Send> Says for Follows<F> {
    fn say(&mut self) -> Option<String> {
        (self.0)().into_attr()
    }
}

fn attr_of(mut says: Box<dyn Says>) -> Attr {
    Box::new(move || says.say())
}

trait Does<E> {
    fn at(&mut self, event: E);
}

impl<E, F: FnMut(E)> Does<E> for F {
    fn at(&mut self, event: E) {
        self(event);
    }
}

fn on_of<E: 'static>(mut does: Box<dyn Does<E>>) -> On<E> {
    Box::new(move |event| does.at(event))
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
