//! FEATURE: changing the policy.

use crate::fixture::Fixture;
use browser::person::Person;
use domain::role::Role;
use serde_json::json;

/// Replaces a part of the text as typing would.
const REPLACE: &str = "const area = document.querySelector('.policy-editor textarea');\
    area.value = area.value.replace(arguments[0], arguments[1]);\
    area.dispatchEvent(new Event('input', { bubbles: true }))";

async fn replaces(who: &Person, from: &str, to: &str) {
    who.script(REPLACE, vec![json!(from), json!(to)]).await;
}

mod rule_nobody_overwrites_a_change_unseen {
    use super::*;

    #[tokio::test]
    async fn example_two_admins_edit_at_once() {
        let fixture = Fixture::open().await;
        let ada = fixture.enters(Role::Admin, "ada").await;
        ada.clicks("link", "Policy").await;
        ada.find("heading", "Policy").await;
        ada.sees("A second person approves: not the one who declared the fix.").await;
        ada.sees("No version saved yet.").await;
        ada.shows("policy").await;
        ada.clicks("button", "Edit policy…").await;
        ada.sees("Nothing would change.").await;

        an_error_has_its_place(&ada).await;
        what_changes_is_shown_before(&ada).await;
        another_version_is_explained(&ada).await;
        ada.leaves(&["409"]).await;
    }
}

async fn an_error_has_its_place(ada: &Person) {
    replaces(ada, "\"four_eyes\": true,", "\"four_eyes\": true").await;
    ada.sees("Expected a comma or }.").await;
    ada.sees("Correct the errors above first.").await;
    ada.shows("policy-error").await;
    replaces(ada, "\"four_eyes\": true", "\"for_eyes\": true,").await;
    ada.sees("unknown field `for_eyes`").await;
    replaces(ada, "\"for_eyes\": true", "\"four_eyes\": false").await;
}

async fn what_changes_is_shown_before(ada: &Person) {
    ada.sees("1 setting would change:").await;
    ada.sees("Replays no longer need a second person").await;
    ada.writes("Reason", "Alone on call.").await;
    ada.shows("policy-check").await;
}

/// Another tab of the same person saves first.
async fn another_version_is_explained(ada: &Person) {
    const SAVE: &str = "const done = arguments[arguments.length - 1];\
        const headers = { authorization: 'Bearer ' + sessionStorage.getItem('dlo.token'), 'content-type': 'application/json' };\
        fetch('/api/v1/policy', { headers }).then(answer => answer.json()).then(({ policy, version }) => {\
            policy.replay.pace_per_s = 7;\
            return fetch('/api/v1/policy', { method: 'PUT', headers,\
                body: JSON.stringify({ policy, version, reason: 'Slower.' }) }); }).then(answer => done(answer.status))";
    assert_eq!(ada.slow_script(SAVE).await, json!(200));
    ada.clicks("button", "Save version 1").await;
    ada.sees("Not saved: ada saved version 1 while you were editing. Your text is kept.").await;
    ada.sees("Compare your text with version 1 first.").await;
    ada.shows("policy-conflict").await;
    ada.clicks("button", "Compare my text").await;
    ada.sees("2 settings would change:").await;
    ada.sees("replay.pace_per_s").await;
    ada.clicks("button", "Save version 2").await;
    ada.sees("Version 2 saved.").await;
    ada.sees("The person who declared the fix may approve.").await;
    ada.sees("Alone on call.").await;
    ada.shows("policy-saved").await;
}

mod rule_only_an_admin_changes_the_policy {
    use super::*;

    #[tokio::test]
    async fn example_a_viewer_reads_it() {
        let fixture = Fixture::open().await;
        let vera = fixture.enters(Role::Viewer, "vera").await;
        vera.clicks("link", "Policy").await;
        vera.sees("A second person approves: not the one who declared the fix.").await;
        vera.find("button", "Edit policy…").await;
        vera.sees("Ask an admin.").await;
        vera.leaves(&[]).await;
    }
}
