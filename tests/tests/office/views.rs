//! FEATURE: who looked at payloads, and who took histories and letters away, is in the audit.

use crate::requests::Fixture;
use axum::http::{Method, StatusCode};
use domain::audit::Act;
use domain::id::LetterId;
use domain::time::Span;
use serde_json::json;
use wire::{AuditAnswer, LettersAnswer};

#[tokio::test]
async fn who_saw_a_payload_or_saved_a_history_is_audited_once_an_hour() {
    let fixture = Fixture::new(2).await;
    let letters = fixture.get(&format!("/groups/{}/letters", fixture.group)).await;
    let letters: LettersAnswer = serde_json::from_slice(&letters.body).unwrap();
    let ids: Vec<LetterId> = letters.letters.into_iter().map(|letter| letter.id).collect();
    let views = async || -> Vec<(Act, String, String)> {
        let audit = fixture.audit().await.into_iter().rev().filter(|record| record.act.is_view());
        audit.map(|record| (record.act, record.actor.to_string(), record.detail)).collect()
    };
    assert_eq!(views().await, [], "a list shows no payload");
    for _ in 0..5 {
        assert_eq!(fixture.get(&format!("/letters/{}", ids[0])).await.status, StatusCode::OK);
    }
    fixture.send(Method::GET, &format!("/letters/{}", ids[0]), "admin", "application/json", "").await;
    fixture.get(&format!("/letters/{}", ids[1])).await;
    let one = |actor: &str, id: &LetterId| (Act::PayloadViewed, actor.to_string(), format!("Letter {id}"));
    let first = [one("viewer", &ids[0]), one("admin", &ids[0]), one("viewer", &ids[1])];
    assert_eq!(views().await, first, "one record per person and letter");
    fixture.world.advance(Span::from_mins(61));
    fixture.get(&format!("/letters/{}", ids[0])).await;
    assert_eq!(views().await.len(), 4, "and hour");

    for form in ["csv", "csv", "jsonl"] {
        fixture.get(&format!("/groups/{}/history?form={form}", fixture.group)).await;
        fixture.get(&format!("/replays/{}/history?form={form}", fixture.replay)).await;
    }
    let saved = views().await.split_off(4);
    let export = |detail: &str| (Act::HistoryExported, "viewer".to_string(), detail.to_string());
    let expected = [
        "Group history as CSV",
        "Replay history as CSV",
        "Group history as JSON Lines",
        "Replay history as JSON Lines",
    ];
    assert_eq!(saved, expected.map(export));
    let preview = json!({ "program": ".", "letters_max": 1 });
    fixture.post(&format!("/groups/{}/transform/preview", fixture.group), &preview).await;
    let preview = views().await.split_off(8);
    assert_eq!(
        preview,
        [(Act::PayloadViewed, "admin".into(), "Values of 1 letter in a preview of a transform".into())]
    );
    // Which letters somebody took away.
    let file = format!("/groups/{}/letters/file", fixture.group);
    for query in ["?form=csv", "?form=csv&state=waiting&tenant=acme&died_from=0", "?form=csv&replays_max=0"] {
        fixture.get(&format!("{file}{query}")).await;
    }
    let files = views().await.split_off(9);
    let expected = ["", ", waiting, tenant \"acme\", failed at or after 1970-01-01T00:00:00Z", ", at most 0 replays"]
        .map(|which| (Act::LettersExported, "viewer".to_string(), format!("Letters as CSV{which}")));
    assert_eq!(files, expected);

    let page = fixture.get(&format!("/groups/{}/audit?views=false&limit=2", fixture.group)).await;
    let page: AuditAnswer = serde_json::from_slice(&page.body).unwrap();
    assert!(page.records.len() == 2 && page.records.iter().all(|record| !record.act.is_view()), "{:?}", page.records);
}

/// `error(tojson)` says whole bodies.
#[tokio::test]
async fn what_a_program_says_of_letters_is_a_view() {
    let fixture = Fixture::new(3).await;
    let views = async || {
        let audit = fixture.audit().await.into_iter().rev().filter(|record| record.act.is_view());
        audit.map(|record| (record.actor.to_string(), record.detail)).collect::<Vec<_>>()
    };
    let path = format!("/groups/{}/transform", fixture.group);
    fixture.get(&path).await;
    fixture.post(&path, &json!({ "program": "error(tojson)" })).await;
    assert_eq!(views().await, [], "nothing was tried");
    let run = fixture.post(&format!("{path}/dry-run"), &json!({ "version": 1, "filter": { "died_from": 0 } })).await;
    assert_eq!(run.status, StatusCode::OK);
    for _ in 0..2 {
        fixture.get(&path).await;
    }
    let words = "What a transform said of letters that it failed on";
    let with = format!("{words}, in a dry run of transform v1, failed at or after 1970-01-01T00:00:00Z");
    assert_eq!(views().await, [("admin".to_string(), with), ("viewer".to_string(), words.to_string())]);
}

#[tokio::test]
async fn nothing_is_shown_without_its_record() {
    let fixture = Fixture::new(1).await;
    let letter = fixture.world.store.letters_of(&fixture.group, None, None, 1).await.unwrap().items.remove(0);
    let path = format!("/letters/{}", letter.id);
    // Each call of the store fails once: reading the letter and its group, the record, and reading the deaths.
    let mut failures = 0;
    loop {
        fixture.world.faults.arm(failures, false);
        let answer = fixture.get(&path).await;
        if !fixture.world.faults.has_failed() {
            assert_eq!(answer.status, StatusCode::OK);
            break;
        }
        assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "call {failures}");
        failures += 1;
    }
    assert!(failures >= 3, "{failures} calls");
    let views = fixture.audit().await.into_iter().filter(|record| record.act.is_view()).count();
    assert_eq!(views, 1, "a view that failed later is recorded once");
}
