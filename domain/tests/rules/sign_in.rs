//! Whose tokens the policy refuses.

use domain::person::{Person, PersonId};
use domain::policy::{Policy, SignInPolicy};
use domain::time::{Span, Timestamp};

const AT: Timestamp = Timestamp::from_ms(1_800_000_000_000);

fn person(name: &str, subject: &str) -> Person {
    let id = PersonId { issuer: "https://issuer".into(), subject: subject.into() };
    Person { name: name.into(), id: Some(id) }
}

#[test]
fn an_entry_refuses_exactly_those_whom_all_its_fields_match() {
    let rows = [
        // entry                                        otto   anna
        (r#"{}"#, false, false),
        (r#"{"name":"otto"}"#, true, false),
        (r#"{"name":" OTTO "}"#, true, false),
        (r#"{"name":"ott"}"#, false, false),
        (r#"{"subject":"s-1"}"#, true, false),
        (r#"{"subject":"S-1"}"#, false, false),
        (r#"{"subject":"s-1","name":"anna"}"#, false, false),
        (r#"{"subject":"s-1","issued_before":1800000000001}"#, true, false),
        (r#"{"subject":"s-1","issued_before":1800000000000}"#, false, false),
        (r#"{"issued_before":1800000000001}"#, true, true),
    ];
    for (entry, otto, anna) in rows {
        let text = format!(r#"{{"sign_in":{{"revoked":[{entry}]}}}}"#);
        let policy = serde_json::from_str::<Policy>(&text).unwrap().sign_in;
        let found = [person("otto", "s-1"), person("anna", "s-2")].map(|who| policy.revokes(&who, AT));
        assert_eq!(found, [otto, anna], "{entry}");
    }
}

#[test]
fn by_default_nobody_is_refused_and_a_session_may_be_idle_for_half_an_hour() {
    let policy = SignInPolicy::default();
    assert!(!policy.revokes(&person("otto", "s-1"), AT));
    assert_eq!(policy.idle_ms, Some(Span::from_mins(30)));
}
