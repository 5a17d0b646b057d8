//! A body that passes on what it receives and keeps a copy, which costs nothing but memory.

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Called with all of a body.
type Hook = Box<dyn FnOnce(Vec<Bytes>) + Send>;

/// A body on its way.
pub struct Tee {
    inner: Incoming,
    copy: Option<Copy>,
}

struct Copy {
    frames: Vec<Bytes>,
    room: usize,
    hook: Hook,
}

impl Tee {
    /// Passes a body on without looking.
    pub fn blind(inner: Incoming) -> Self {
        Self { inner, copy: None }
    }

    /// Passes a body on, and calls `hook` with all of it at its end. The hook is not called if the body is longer than
    /// `bytes_max`, or breaks off.
    pub fn new(inner: Incoming, bytes_max: usize, hook: impl FnOnce(Vec<Bytes>) + Send + 'static) -> Self {
        let mut tee = Self { inner, copy: Some(Copy { frames: Vec::new(), room: bytes_max, hook: Box::new(hook) }) };
        // Nobody asks an empty body for a frame.
        if tee.inner.is_end_stream() {
            tee.end();
        }
        tee
    }

    fn keep(&mut self, data: &Bytes) {
        let fits = self.copy.as_ref().is_some_and(|copy| data.len() <= copy.room);
        if !fits {
            self.copy = None;
        }
        if let Some(copy) = &mut self.copy {
            copy.room -= data.len();
            copy.frames.push(data.clone());
        }
    }

    fn end(&mut self) {
        if let Some(copy) = self.copy.take() {
            (copy.hook)(copy.frames);
        }
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    self.keep(data);
                }
                // With a known length, nobody asks for another frame after the last.
                if self.inner.is_end_stream() {
                    self.end();
                }
            }
            Poll::Ready(None) => self.end(),
            Poll::Ready(Some(Err(_))) => self.copy = None,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
