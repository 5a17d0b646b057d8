//! Money is printed and parsed without losing a digit; the time to loss depends on the queue's kind.

use domain::impact::{loss_at, retained_until};
use domain::letter::Letter;
use domain::limits::{AMOUNT_END, AMOUNT_SCALE_MAX};
use domain::marker::{FAILURE_ATTRIBUTE, Marker};
use domain::message::{Attribute, Content, DeadMessage, SystemAttributes};
use domain::money::{Currency, Decimal, Money};
use domain::policy::Policy;
use domain::read::{Stamp, read};
use domain::time::{Span, Timestamp};
use proptest::prelude::*;

const DAY: Span = Span::from_days(1);

fn day(n: i64) -> Timestamp {
    Timestamp::from_ms(0).plus(DAY.times(n))
}

/// When a letter is lost that was first sent on day 0 and moved on day 2 to a dead-letter queue with a retention of
/// four days; in custody, or still there.
fn lost_at(fifo: bool, redriven: bool, stamped: bool, deadline: Option<i64>, custody: bool) -> Option<Timestamp> {
    let end = if fifo { ".fifo" } else { "" };
    let arn = |name: &str| format!("arn:aws:sqs:eu-west-1:111122223333:{name}{end}").as_str().into();
    let stamp = Stamp { first_sent_at: Some(day(0)), message: Some("m".into()), ..Stamp::default() };
    let attributes = stamped.then(|| (FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print())));
    let body = deadline.map(|n| format!("{{\"deadline\":{}}}", day(n).as_ms() + 1_000_000_000_000));
    let shifted = |at: Timestamp| Timestamp::from_ms(at.as_ms() + 1_000_000_000_000);
    let message = DeadMessage {
        dlq: arn("orders-dlq"),
        message_id: "m-1".into(),
        content: Content {
            body: body.unwrap_or_else(|| "{}".into()),
            attributes: attributes.into_iter().collect(),
            ..Content::default()
        },
        system: SystemAttributes {
            // Only a redrive between standard queues keeps the time of the first send.
            sent_at: Some(shifted(if redriven && !fifo { day(0) } else { day(2) })),
            source_queue: redriven.then(|| arn("orders")),
            ..SystemAttributes::default()
        },
    };
    let retention = (!custody).then(|| DAY.times(4));
    let letter = Letter::first(&message, read(&message, &Policy::default()), retention, shifted(day(3)));
    letter.loss_at.map(|at| Timestamp::from_ms(at.as_ms() - 1_000_000_000_000))
}

#[test]
fn the_time_to_loss_counts_as_sqs_does() {
    for (fifo, redriven, stamped, deadline, lost) in [
        // Standard, redriven: from the first send.
        (false, true, false, None, 4),
        // FIFO, redriven: from the move.
        (true, true, false, None, 6),
        // Put there by a consumer or a service: from that put, whatever the stamp says about the first send.
        (false, false, true, None, 6),
        (true, false, true, None, 6),
        (false, false, false, None, 6),
        // Its own deadline, if that is earlier.
        (false, true, false, Some(3), 3),
        (false, true, false, Some(5), 4),
    ] {
        let row = format!("{fifo} {redriven} {stamped} {deadline:?}");
        assert_eq!(lost_at(fifo, redriven, stamped, deadline, false), Some(day(lost)), "{row}");
        // Once the office has it, only its own deadline can lose it.
        assert_eq!(lost_at(fifo, redriven, stamped, deadline, true), deadline.map(day), "{row}, in custody");
    }
}

#[test]
fn time_saturates_at_its_ends() {
    let end = Timestamp::from_ms(i64::MAX);
    assert_eq!(retained_until(end, DAY), end);
    assert_eq!(loss_at(Some(end), Some(day(1))), Some(day(1)));
}

/// The amount that is read from a body with this text.
fn amount_of(written: &str) -> Option<Decimal> {
    let message = DeadMessage {
        dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
        message_id: "m-1".into(),
        content: Content { body: format!("{{\"amount\":{written},\"currency\":\"EUR\"}}"), ..Content::default() },
        system: SystemAttributes::default(),
    };
    read(&message, &Policy::default()).diagnosis.impact.money.map(|money| money.amount)
}

#[test]
fn implausibly_large_amounts_are_rejected() {
    for (written, amount) in [
        ("999999999999999.999999999999", Some("999999999999999.999999999999")),
        ("29.990000000000002", Some("29.99")),
        ("0.1000000000000000055511151231", Some("0.1")),
        ("0.0000000000000000000000000001", Some("0")),
        ("1000000000000000", None),
        ("999999999999999.9999999999999", Some("1000000000000000")),
        ("1e15", None),
        ("79228162514264337593543950335", None),
        ("-79228162514264337593543950335", None),
    ] {
        assert_eq!(amount_of(written).map(|amount| amount.to_string()).as_deref(), amount, "{written}");
    }
}

proptest! {
    #[test]
    fn money_survives_a_round_trip(mantissa in any::<i64>(), scale in 0_u32..=28, currency in "[A-Za-z]{3}") {
        let currency = Currency::parse(&currency).unwrap();
        let money = Money { amount: Decimal::new(mantissa, scale), currency };
        let printed = serde_json::to_string(&money).unwrap();
        prop_assert!(printed.contains(&format!("\"{}\"", money.amount)), "a string, so that no reader rounds it");
        let read: Money = serde_json::from_str(&printed).unwrap();
        prop_assert_eq!((read, read.amount.scale()), (money, money.amount.scale()));
        prop_assert_eq!(Currency::parse(currency.as_str()), Some(currency));
    }

    #[test]
    fn every_digit_of_an_amount_is_preserved(units in 0..AMOUNT_END, fine in any::<u64>(), scale in 0..=AMOUNT_SCALE_MAX) {
        let amount = Decimal::from(units) + Decimal::new((fine % 10_u64.pow(scale)).cast_signed(), scale);
        for written in [format!("{amount}"), format!("\"{amount}\"")] {
            prop_assert_eq!(amount_of(&written).map(|amount| amount.to_string()), Some(amount.to_string()));
        }
    }

    #[test]
    fn a_marker_survives_a_round_trip(letter in "[0-9a-f]{32}", replay in "[0-9a-f]{32}", attempt in any::<u32>(), seq in any::<u64>()) {
        let marker = Marker { letter: letter.as_str().into(), replay: replay.as_str().into(), attempt, seq };
        prop_assert_eq!(Marker::parse(&marker.print()), Some(marker));
    }
}
