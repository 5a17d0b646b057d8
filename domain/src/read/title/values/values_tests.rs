//! What a title may show of one letter's error, and what stays masked.

use super::values;
use crate::id::QueueArn;
use crate::message::{Content, DeadMessage};
use crate::policy::Policy;
use crate::read::{MASK, classify_failure, read};
use crate::reading::{Diagnosis, Failure};
use alloc::format;
use alloc::string::{String, ToString};
use proptest::prelude::*;

fn diagnosis(error_type: &str, message: &str, stack: Option<&str>) -> Diagnosis {
    let body = r#"{"type":"order.placed","customer_id":"kunde-17","tenant_id":"acme","amount":"250","currency":"EUR"}"#;
    let dead = DeadMessage {
        dlq: QueueArn::from("arn:aws:sqs:eu-central-1:1:orders-dlq"),
        message_id: "m-1".into(),
        content: Content { body: body.into(), ..Content::default() },
        system: Default::default(),
    };
    let failure = Failure {
        error_type: Some(error_type.to_string()),
        message: Some(message.to_string()),
        stack: stack.map(ToString::to_string),
        ..Failure::default()
    };
    let title = classify_failure(&failure, None, &Policy::default()).title;
    Diagnosis { title, failure, ..read(&dead, &Policy::default()).diagnosis }
}

/// Returns the title with the values of this one letter.
fn shown(diagnosis: &Diagnosis) -> String {
    let mut values = values(diagnosis).into_iter();
    let mut shown = |c: char| if c == MASK { values.next().flatten() } else { None };
    diagnosis.title.chars().map(|c| shown(c).unwrap_or_else(|| c.to_string())).collect()
}

#[test]
fn parts_of_a_program_are_shown() {
    let rows = [
        (
            "index out of bounds: the len is 3 but the index is 99",
            "index out of bounds: the len is 3 but the index is 99",
        ),
        ("no stock for sku_2187 in eu-west-1", "no stock for sku_2187 in eu-west-1"),
        ("no price for sku_2187", "no price for sku_2187"),
        ("no template 'welcome_mail_2'", "no template 'welcome_mail_2'"),
        ("schema version v2 is not supported", "schema version v2 is not supported"),
        ("Package requests (2.31.0) not found.", "Package requests (2.31.0) not found."),
        (
            "GET https://shop.example.com/orders/123 failed: 3 retries",
            "GET https://shop.example.com/orders/123 failed: 3 retries",
        ),
        ("row 5: could not parse: value 7\ncolumn 3", "row 5: could not parse: value 7 column 3"),
        ("step 3 failed.", "step 3 failed."),
        ("job failed at step 3.\nTry again.", "job failed at step 3. Try again."),
        // Only the first three positions of a title are masks.
        ("a 1 b 2 c 3 d 4 e 5", "a 1 b 2 c 3 d …"),
        // Brackets that a cut left open are closed.
        ("a 1 (b 2 c 3 d 4) e 5", "a 1 (b 2 c 3 d …)"),
        // The star is a word of the message.
        ("SELECT * FROM t WHERE id = 7", "SELECT * FROM t WHERE id = 7"),
    ];
    for (message, expected) in rows {
        assert_eq!(shown(&diagnosis("E", message, None)), format!("E: {expected}"), "{message}");
    }
    assert_eq!(shown(&diagnosis("KeyError", "'sku_2187'", None)), "KeyError: 'sku_2187'");
}

#[test]
fn data_of_people_secrets_money_and_ids_stay_masked() {
    let rows = [
        ("the index is 991234567", "the index is *"),
        ("customer 4711 is unknown", "customer * is unknown"),
        ("customerId=4711 is unknown", "customerId=* is unknown"),
        ("job kunde-17 failed", "job kunde-* failed"),
        ("no plan 'acme' here", "no plan * here"),
        ("user 'anna17' has no access", "user * has no access"),
        ("4711 is not a known customer", "* is not a known customer"),
        ("Kunde 4711 ist gesperrt", "Kunde * ist gesperrt"),
        ("Betrag 1200 zu hoch", "Betrag * zu hoch"),
        ("license key 48213 was rejected", "license key * was rejected"),
        ("mail to anna@example.com bounced in step 4", "mail to * bounced in step 4"),
        ("token eyJhbGciOiJIUzI1NiJ9 is expired", "token * is expired"),
        ("key AKIA5XQW9ZP21LMN is refused", "key * is refused"),
        ("job x7Kp9Qz2 failed", "job * failed"),
        ("unit with id DiszpKrYNg8 could not be found", "unit with id * could not be found"),
        ("order 550e8400-e29b-41d4-a716-446655440000 is closed", "order * is closed"),
        ("could not reserve $12 for 3 items", "could not reserve * for 3 items"),
        ("an amount of 12 is too low", "an amount of * is too low"),
        ("shipping for 250 failed", "shipping for * failed"),
        ("birthday 12.05.1980 is in the future", "birthday * is in the future"),
        ("1.250.000 is too much", "* is too much"),
        ("call to +49 170 1234567 failed", "call to * failed"),
        ("IBAN DE89370400440532013000 rejected", "IBAN * rejected"),
        ("10.0.0.1:5432 refused the connection", "*:5432 refused the connection"),
        ("Zahlung für Anna fehlgeschlagen", "Zahlung für * fehlgeschlagen"),
        ("Empfänger Berg ist fort", "Empfänger * ist fort"),
        ("le fournisseur Dupont est parti", "le fournisseur * est parti"),
        ("Dr. Berg is away", "Dr. * is away"),
        // More than one value stands at the mask.
        ("expected 3, got 4, 5, 6", "expected 3, got *"),
        ("timed out after 30 seconds", "timed out after *"),
    ];
    for (message, expected) in rows {
        assert_eq!(shown(&diagnosis("E", message, None)), format!("E: {expected}"), "{message}");
    }
}

#[test]
fn a_root_cause_is_found_in_the_stack() {
    let stack = "orders.Failed: order 7 failed\n\tat orders.Main.main(Main.java:3)\n\
                 Caused by: orders.Closed: shard 12 is closed\n\tat orders.Shard.open(Shard.java:9)\n";
    let diagnosis = diagnosis("orders.Failed", "order 7 failed", Some(stack));
    assert_eq!(diagnosis.title, "Closed: shard * is closed ← Failed: order * failed");
    assert_eq!(shown(&diagnosis), "Closed: shard 12 is closed ← Failed: order 7 failed");
}

proptest! {
    #[test]
    fn any_error_has_a_value_or_none_for_each_mask(
        message in r#"([a-z]{1,4}|[0-9]{1,7}|[ :.,'"*←…()\n=-]|ä){0,60}"#,
        error_type in "[A-Z][a-z]{0,5}(\\.[A-Z]\\*?)?",
        stack in proptest::option::of("[a-z0-9 *\n]{0,80}"),
    ) {
        let diagnosis = diagnosis(&error_type, &message, stack.as_deref());
        let values = values(&diagnosis);
        prop_assert_eq!(values.len(), diagnosis.title.matches(MASK).count());
        for value in values.iter().flatten() {
            prop_assert!(message.contains(value.as_str()) || stack.as_ref().is_some_and(|stack| stack.contains(value.as_str())));
        }
    }
}
