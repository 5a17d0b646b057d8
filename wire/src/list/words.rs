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

/// Returns the label of a classification: its class, that it is a guess, or that nothing known was matched.
pub fn classified(classification: &Classification) -> &'static str {
    let is_guess = classification.firm_class() == Class::Unknown;
    match (classification.confidence.as_pct(), classification.class) {
        (0, _) => "Unclassified",
        (_, Class::Transient) if is_guess => "Transient (guess)",
        (_, Class::Permanent) if is_guess => "Permanent (guess)",
        (_, found) => class(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use domain::reading::Confidence;

    #[test]
    fn a_guess_is_called_one() {
        let label = |class, pct| {
            let confidence = Confidence::from_pct(pct);
            classified(&Classification { class, category: Category::Unknown, confidence, reason: String::new() })
        };
        assert_eq!(label(Class::Permanent, 25), "Permanent (guess)");
        assert_eq!(label(Class::Transient, 25), "Transient (guess)");
        assert_eq!(label(Class::Permanent, 30), "Permanent");
        assert_eq!(label(Class::Unknown, 20), "Unknown");
        assert_eq!(label(Class::Unknown, 0), "Unclassified");
    }
}
