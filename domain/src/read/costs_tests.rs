//! Money is exact. It comes from where the policy points, else from common names, which are reported as a guess.

use super::*;
use crate::impact::Severity;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

fn read(body: &str, policy: &Policy, remarks: &mut Vec<String>) -> Impact {
    let raw = Raw::new(body);
    let payload = Payload { raw, members: &Index::new(raw), message_type: Some("order.placed"), stated_deadline: None };
    impact(payload, policy, remarks)
}

fn check(body: &str, rule: Option<MessageTypeRule>, expected: &str) {
    let policy = Policy { message_types: rule.into_iter().collect(), ..Policy::default() };
    let got = read(body, &policy, &mut Vec::new());
    let money = got.money.map(|m| format!("{} {}", m.amount, m.currency)).unwrap_or_default();
    let deadline = got.deadline.map(|d| d.as_ms().to_string()).unwrap_or_default();
    let line = format!("{money}|{}|{deadline}|{}", got.customer.unwrap_or_default(), got.guessed);
    assert_eq!(line, expected, "{body}");
}

#[test]
fn common_names_are_found_and_reported_as_a_guess() {
    check(r#"{"amount":12.10,"currency":"EUR","customer_id":"c-1"}"#, None, "12.10 EUR|c-1||true");
    check(r#"{"amount":"12.50","currency":"eur"}"#, None, "12.50 EUR|||true");
    check(r#"{"total":{"value":"7.5","currency":"USD"},"user":{"id":7}}"#, None, "7.5 USD|7||true");
    check(r#"{"amount_cents":1999,"currency":"EUR"}"#, None, "19.99 EUR|||true");
    check(r#"{"amountMinor":1999,"currency":"JPY"}"#, None, "1999 JPY|||true");
    check(r#"{"data":{"order":{"totalAmount":1e3,"currencyCode":"EUR"}}}"#, None, "1000 EUR|||true");
    check(r#"{"lines":[{"amount":5}],"amount":-3,"currency":"EUR"}"#, None, "3 EUR|||true");
    check(r#"{"order":{"amount":5},"price":9,"currency":"EUR"}"#, None, "9 EUR|||true");
    check(r#"{"expiresAt":"2026-11-19T08:01:02Z"}"#, None, "||1795075262000|true");
    check(r#"{"deadline":1795075262}"#, None, "||1795075262000|true");
    check(r#"{"amount":5}"#, None, "|||false");
    check(r#"{"amount":123456789012345678901234567890,"currency":"EUR"}"#, None, "|||false");
    check(r#"{"amount":0.1234567890123456789012345678,"currency":"EUR"}"#, None, "0.123456789012 EUR|||true");
    check("not json", None, "|||false");
    check("[1,2]", None, "|||false");
}

#[test]
fn the_policys_pointers_win_over_names() {
    let rule = MessageTypeRule {
        message_type: "order.placed".into(),
        amount: Some("/sum".into()),
        currency: Some("=CHF".into()),
        customer: Some("/who/0".into()),
        deadline: Some("/by".into()),
        severity: Some(Severity::Critical),
        ..MessageTypeRule::default()
    };
    check(
        r#"{"amount":1,"currency":"EUR","sum":"99.95","who":["z-1"],"by":1795075262000}"#,
        Some(rule.clone()),
        "99.95 CHF|z-1|1795075262000|false",
    );
    check(r#"{"amount":1,"currency":"EUR"}"#, Some(rule), "|||false");
    let minor = MessageTypeRule {
        message_type: "*".into(),
        amount_minor: Some("/c".into()),
        currency: Some("/cur".into()),
        ..MessageTypeRule::default()
    };
    check(r#"{"c":1050,"cur":"KWD"}"#, Some(minor), "1.05 KWD|||false");
}

#[test]
fn a_guess_names_the_pointer_that_would_make_it_certain() {
    let remark = |body: &str| {
        let mut remarks = vec![];
        read(body, &Policy::default(), &mut remarks);
        remarks.join(" ")
    };
    let body = r#"{"data":{"order":{"total":{"value":"1","currency":"EUR"}},"user":{"user_id":7},"dueAt":1795075262}}"#;
    let said = remark(body);
    assert_eq!(
        said,
        "Guessed by name: the amount from /data/order/total/value, the customer from /data/user/user_id, \
         the deadline from /data/dueAt."
    );
    for path in said.split(" from ").skip(1).map(|part| part.split([',', '.']).next().unwrap_or_default()) {
        assert!(Raw::new(body).pointer(path).is_some(), "{path}");
    }
    assert_eq!(remark(r#"{"a~b":{"amount":1},"currency":"EUR"}"#), "Guessed by name: the amount from /a~0b/amount.");
    assert_eq!(remark(r#"{"id":7}"#), "");
}

#[test]
fn minor_units_follow_the_currency() {
    // `XXX` is ISO 4217's code for no currency.
    for (currency, expected) in
        [("EUR", "12.34"), ("JPY", "1234"), ("KRW", "1234"), ("KWD", "1.234"), ("CLF", "0.1234"), ("XXX", "12.34")]
    {
        let body = format!(r#"{{"amount_minor":1234,"currency":"{currency}"}}"#);
        check(&body, None, &format!("{expected} {currency}|||true"));
    }
}

#[test]
fn the_envelopes_deadline_beats_a_guess_and_yields_to_the_policy() {
    let body = r#"{"expires":1795075262,"by":1795075263}"#;
    let raw = Raw::new(body);
    let rule = MessageTypeRule { message_type: "*".into(), deadline: Some("/by".into()), ..MessageTypeRule::default() };
    for (stated, rules, expected_ms) in
        [(None, vec![], 1_795_075_262_000), (Some(7), vec![], 7), (Some(7), vec![rule], 1_795_075_263_000)]
    {
        let stated_deadline = stated.map(Timestamp::from_ms);
        let payload = Payload { raw, members: &Index::new(raw), message_type: None, stated_deadline };
        let policy = Policy { message_types: rules, ..Policy::default() };
        let deadline = impact(payload, &policy, &mut Vec::new()).deadline;
        assert_eq!(deadline, Some(Timestamp::from_ms(expected_ms)));
    }
}

#[test]
fn the_account_of_an_event_is_not_a_customer() {
    check(r#"{"detail-type":"x","account":"111122223333"}"#, None, "|||false");
    check(r#"{"detail-type":"x","account":"1","detail":{"accountId":"a-7"}}"#, None, "|a-7||true");
    check(r#"{"account":"a-7"}"#, None, "|a-7||true");
}

#[test]
fn an_amount_without_currency_gets_a_remark() {
    let mut remarks = vec![];
    let got = read(r#"{"amount":5}"#, &Policy::default(), &mut remarks);
    assert!(got.money.is_none() && remarks.iter().any(|r| r.contains("currency is missing")));
}
