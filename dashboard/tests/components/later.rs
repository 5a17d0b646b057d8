//! Parts of the program that are loaded later, in a real browser. The tests' program is not split: only styles are fetched.

use crate::fixture::show;
use dashboard::component::HelpOpen;
use dashboard::later::{self, LaterPage};
use dashboard::lazy::{Part, Parts};
use dashboard::reactive::prelude::*;
use dashboard_model::route::PageKey;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_list_is_in_the_first_part_and_people_who_are_not_signed_in_need_no_other() {
    let group = PageKey::Group("a".into());
    for (page, is_signed_in, part) in [
        (PageKey::Groups, true, None),
        (PageKey::Unknown("/a".into()), true, None),
        (PageKey::Replays, true, Some(Part::Work)),
        (PageKey::Policy, true, Some(Part::Policy)),
        (group.clone(), true, Some(Part::Work)),
        (group, false, Some(Part::SignIn)),
        (PageKey::Groups, false, Some(Part::SignIn)),
        (PageKey::SignIn, true, Some(Part::SignIn)),
    ] {
        assert_eq!(Part::for_page(&page, is_signed_in), part, "{page:?}, {is_signed_in}");
    }
}

#[wasm_bindgen_test]
async fn a_part_that_is_gone_offers_a_reload_and_is_tried_again() {
    // What a page from before a deployment names, and the office no longer has.
    let meta = document().create_element("meta").unwrap();
    meta.set_attribute("name", "part:work").unwrap();
    meta.set_attribute("content", "/gone-0123456789abcdef.css").unwrap();
    document().head().unwrap().append_child(&meta).unwrap();
    let out = Rc::new(RefCell::new(None));
    let inner = Rc::clone(&out);
    let fixture = show(move || {
        provide_context(HelpOpen(RwSignal::new(false)));
        inner.replace(Some(Parts::provide(later::fetch)));
        view! { <LaterPage page=PageKey::Replays in_part=Part::Work /> }
    });
    let parts = out.borrow_mut().take().unwrap();
    fixture.until("the reload is offered", |fixture| fixture.find("[role=alert] .button-primary").is_some()).await;
    assert_eq!(fixture.get("[role=alert] .button-primary").text_content().as_deref(), Some("Reload"));
    assert!(fixture.text().contains("This page could not be loaded."));
    meta.remove();
    parts.load(Part::Work);
    // The page may have an error of its own by then: nothing answers its request here.
    fixture.until("the page is shown", |fixture| !fixture.text().contains("This page could not be loaded.")).await;
    assert_eq!(fixture.get("h1").text_content().as_deref(), Some("Replays"));
}
