//! Pages of lists, and the failure of a read.

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error("the store failed to {operation}")]
pub struct StoreError {
    /// The operation, for example `read letter 3fa9…`.
    pub operation: String,
    /// The cause.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
    /// Whether the store rejects these writes permanently. Nothing was written, and trying again cannot help.
    pub refused: bool,
}

/// The position at which a page ended (see [`super::ListPosition`]). An unreadable cursor starts the list from its
/// beginning; the API refuses it before that ([`super::Listed::accepts`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<Cursor>,
}
