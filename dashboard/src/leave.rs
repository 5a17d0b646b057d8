//! Signing out: first nothing of the office is shown any more, then the office ends the session, then the tab forgets it.

use crate::session::{self, Tab};
use crate::{api, browser};
use leptos::task::spawn_local;

/// Signs the person out in every tab of this browser.
pub fn sign_out(tab: Tab) {
    if let Some(me) = tab.me_untracked() {
        // First, so that no other tab takes the end of the session for the office's.
        browser::leaves(me.name.as_str());
    }
    follow(tab);
}

/// Follows a person who has signed out in another tab. This tab may have a token of its own.
pub fn follow(tab: Tab) {
    tab.close(false);
    end(tab);
}

/// Signs out a person who makes no input. The text in forms is kept.
pub fn for_lack_of_input(tab: Tab) {
    tab.hide();
    end(tab);
}

fn end(tab: Tab) {
    let token = session::token();
    spawn_local(async move {
        // Even if the request fails, this tab deletes its token, unless somebody has signed in meanwhile.
        let _ = api::sign_out().await;
        if session::token() == token {
            tab.clear();
        }
    });
}
