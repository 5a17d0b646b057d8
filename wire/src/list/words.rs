//! The words for classes and categories, which the filter reads too.

use domain::reading::{Category, Class, Classification};

/// Returns a class's label.
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Transient => "Transient",
        Class::Permanent => "Permanent",
        Class::Unknown => "Unknown",
    }
}

/// Returns a category's label.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Timeout => "Timeout",
        Category::Throttled => "Throttled",
        Category::DependencyUnavailable => "Dependency down",
        Category::MalformedPayload => "Malformed payload",
        Category::SchemaViolation => "Schema violation",
        Category::BusinessRule => "Business rule",
        Category::MissingReference => "Missing reference",
        Category::Auth => "Access denied",
        Category::Conflict => "Conflict",
        Category::Duplicate => "Duplicate",
        Category::ResourceLimit => "Resource limit",
        Category::ConsumerBug => "Consumer bug",
        Category::Configuration => "Configuration",
        Category::Expired => "Expired",
        Category::InvalidTenant => "Invalid tenant",
        Category::Bystander => "Failed with its batch",
        Category::Unknown => "Unknown",
    }
}

/// Returns the label of a classification: its class, or that nothing known was matched.
pub fn classified(classification: &Classification) -> &'static str {
    if classification.confidence.as_pct() == 0 { "Unclassified" } else { class(classification.class) }
}
