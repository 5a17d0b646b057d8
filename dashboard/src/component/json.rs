//! A payload as a tree to open and fold. Numbers keep every digit.

use crate::component::Copy;
use crate::reactive::prelude::*;
use dashboard_model::json::{self, Kind, Node};

/// Nodes up to this depth are open at first.
const OPEN_TO: usize = 2;

/// Shows JSON as a tree, and other text unchanged.
#[component]
pub fn JsonView(
    /// The text.
    #[prop(into)]
    raw: String,
) -> impl IntoView {
    match json::root(&raw) {
        Some(root) => view! { <div class="json">{branch(root, 0)}</div> }.into_any(),
        None => view! { <pre class="raw">{raw}</pre> }.into_any(),
    }
}

fn branch(node: Node, depth: usize) -> AnyView {
    let name = node.name.clone().map(|name| view! { <span class="json-name">{name}</span> }.into_any());
    if !matches!(node.kind, Kind::Object | Kind::Array) {
        let class = format!("json-{}", node.kind.as_str());
        return view! { <div class="json-leaf">{name}<span class=class>{node.text}</span></div> }.into_any();
    }
    let opened = RwSignal::new(depth < OPEN_TO);
    let folded = json::folded(&node);
    let path = if node.path.is_empty() { "/".to_string() } else { node.path.clone() };
    let copied = node.text.clone();
    // Children are rendered once, when their parent is first opened: a payload of a megabyte has many. They stay after
    // that. Browsers report the first state of `open` late; rendering again would close what a person opened meanwhile.
    let inner = move || {
        opened.get().then(|| {
            let (children, more) = json::children(&node);
            let more = more.then(|| view! { <p class="json-more">"Switch to Raw to see all."</p> }.into_any());
            let children = children.into_iter().map(|child| branch(child, depth + 1)).collect_view();
            view! { <div class="json-inner">{children}{more}</div> }.into_any()
        })
    };
    view! {
        <details class="json-branch" open=depth < OPEN_TO
            on:toggle:target=move |event| {
                if event.target().has_attribute("open") && !opened.get_untracked() {
                    opened.set(true);
                }
            }>
            <summary>
                {name}<span class="json-folded">{folded}</span>
            </summary>
            <span class="json-copy"><Copy text=copied what=format!("the value at {path}") /></span>
            {part(inner)}
        </details>
    }
    .into_any()
}
