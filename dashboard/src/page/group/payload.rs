//! One letter: its body as a tree or raw, its attributes, and its failures.

use super::current::CurrentGroup;
use super::facets::Shared;
use super::failure::FailureText;
use super::filter::FilterLine;
use crate::api;
use crate::component::{At, Button, Copy, Empty, JsonView, Loaded, toaster};
use crate::page::paged::{More, Paged};
use crate::poll::{Live, Pace};
use crate::reactive::prelude::*;
use dashboard_model::json;
use dashboard_model::letters::Suggestions;
use dashboard_model::money::{amount, count};
use dashboard_model::route::{GroupRoute, GroupTab, Route};
use dashboard_model::words;
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId};
use domain::message::{AttributeValue, Content};
use wire::{LetterAnswer, LetterRow, LettersAnswer};

/// Returns the link to a letter of a group.
pub(super) fn letter_href(group: &GroupId, letter: &LetterId, filter: LetterFilter) -> String {
    let letter = Some(letter.clone());
    Route::Group(GroupRoute { tab: GroupTab::Payload, filter, letter, ..GroupRoute::new(group.clone()) }).to_string()
}

/// Shows the list of letters, and beside it the chosen letter or the first one.
#[component]
pub(super) fn PayloadTab(
    current: CurrentGroup,
    route: Memo<Option<GroupRoute>>,
    filter: Memo<LetterFilter>,
) -> impl IntoView {
    let suggestions = RwSignal::new(Suggestions::default());
    view! {
        <Shared current />
        <FilterLine filter suggestions />
        {part(move || view! { <Picks current route filter=filter.get() suggestions /> })}
    }
}

#[component]
fn Picks(
    current: CurrentGroup,
    route: Memo<Option<GroupRoute>>,
    filter: LetterFilter,
    suggestions: RwSignal<Suggestions>,
) -> impl IntoView {
    let (id, fetched_filter) = (current.id(), filter.clone());
    let live = Live::new(
        move |seen| api::letters(id.clone(), None, fetched_filter.clone(), None, seen),
        |_: &LettersAnswer| Pace::Calm,
    );
    let filter = StoredValue::new(filter);
    let paged =
        Paged::new(live, |page: &LettersAnswer| (page.letters.clone(), page.next.clone()), |row| row.id.to_string());
    let rows = paged.rows();
    Effect::new(move || rows.with(|rows| suggestions.update(|suggestions| suggestions.add(rows))));
    let in_url = route.map(move |route| route.as_ref().and_then(|route| route.letter.clone()));
    let chosen = Memo::new(move |_| in_url.get().or_else(|| rows.with(|rows| rows.first().map(|row| row.id.clone()))));
    let item = move |row: LetterRow| {
        let id = row.id.clone();
        let is_chosen = move || chosen.with(|chosen| chosen.as_ref() == Some(&id));
        let short: String = row.id.as_str().chars().take(8).collect();
        let money = row.impact.money.as_ref().map(|money| amount(money).text());
        let kind = row.message_type.clone().unwrap_or_default();
        view! {
            <li>
                <a class="pick" href=letter_href(&current.id(), &row.id, filter.get_value()) aria-current=attr(move || is_chosen().then_some("true"))>
                    <span class="mono">{short}</span>
                    <span class="pick-money">{money}</span>
                    <span class="pick-more">{kind}" · "<At at=Signal::stored(row.died_at) /></span>
                </a>
            </li>
        }.into_any()
    };
    view! {
        <Loaded live what="list" rows=6>
            <Show when=move || chosen.with(Option::is_some)
                fallback=move || match filter.with_value(LetterFilter::is_none) {
                    true => view! { <Empty title="No letters stored for this group."><p>"Letters are deleted some time after they were delivered or discarded."</p></Empty> }.into_any(),
                    false => view! { <Empty title="No letters match the filter."><p>"Remove a condition above, or clear the filter."</p></Empty> }.into_any(),
                }>
                <div class="payload">
                    <nav class="picks" aria-label="Letters">
                        <ul><For each=move || rows.get() key=|row| (row.id.clone(), row.died_at) children=item /></ul>
                        <More paged what="letters" load=move |cursor| {
                            let id = current.id();
                            async move {
                                api::letters(id, None, filter.get_value(), Some(cursor), api::Seen::default()).await.map(|a| a.into_new())
                            }
                        } />
                    </nav>
                    <div class="letter">
                        {part(move || chosen.get().map(|id| view! { <Letter id /> }.into_any()))}
                    </div>
                </div>
            </Show>
        </Loaded>
    }
}

#[component]
fn Letter(id: LetterId) -> impl IntoView {
    let live = Live::new(move |seen| api::letter(id.clone(), seen), |_: &LetterAnswer| Pace::Calm);
    view! {
        <Loaded live what="letter" rows=5>
            {part(move || live.get().map(|detail| view! { <LetterText detail /> }.into_any()))}
        </Loaded>
    }
}

#[component]
fn LetterText(detail: LetterAnswer) -> impl IntoView {
    let warning = detail.row.replayability.reason().map(|reason| {
        let what = words::not_replayable(&detail.row.replayability);
        view! { <p class="notice">{format!("{what}: {reason}")}</p> }.into_any()
    });
    let remarks = (!detail.diagnosis.remarks.is_empty()).then(|| {
        let lines =
            detail.diagnosis.remarks.iter().map(|remark| view! { <li>{remark.clone()}</li> }.into_any()).collect_view();
        view! { <ul class="remarks">{lines}</ul> }.into_any()
    });
    let (failure, reported) = (detail.diagnosis.failure.clone(), detail.diagnosis.reported.clone());
    view! {
        <LetterFacts detail=detail.clone() />
        {warning}
        <Body body=detail.content.body.clone() id=detail.row.id.clone() />
        <Attributes content=detail.content.clone() trace_url=detail.trace_url.clone() />
        {remarks}
        <Failures detail />
        <details class="fold">
            <summary>"Latest failure"</summary>
            <FailureText failure reported />
        </details>
    }
}

#[component]
fn LetterFacts(detail: LetterAnswer) -> impl IntoView {
    let row = detail.row;
    let id = row.id.to_string();
    let message = detail.original_message_id.to_string();
    let version = detail.diagnosis.consumer_version.map(|version| format!(" {version}")).unwrap_or_default();
    let consumer = detail
        .diagnosis
        .consumer
        .map(|consumer| view! { <div><dt>"Consumer"</dt><dd>{format!("{consumer}{version}")}</dd></div> }.into_any());
    let version = detail.diagnosis.producer_version.map(|version| format!(" {version}")).unwrap_or_default();
    let producer = detail
        .diagnosis
        .producer
        .map(|producer| view! { <div><dt>"Producer"</dt><dd>{format!("{producer}{version}")}</dd></div> }.into_any());
    let tenant = row
        .tenant
        .clone()
        .map(|tenant| view! { <div><dt>"Tenant"</dt><dd class="mono">{tenant}</dd></div> }.into_any());
    let attempts =
        detail.diagnosis.attempts.map(|tries| view! { <div><dt>"Attempts"</dt><dd>{tries}</dd></div> }.into_any());
    let deadline = row.impact.deadline.map(|at| {
        view! {
            <div><dt>"Deadline"</dt><dd><At at=Signal::stored(at) absolute=true /></dd></div>
        }
        .into_any()
    });
    let money = row
        .impact
        .money
        .as_ref()
        .map(|money| view! { <div><dt>"Money"</dt><dd>{amount(money).text()}</dd></div> }.into_any());
    let customer = row
        .impact
        .customer
        .clone()
        .map(|customer| view! { <div><dt>"Customer"</dt><dd class="mono">{customer}</dd></div> }.into_any());
    let state = words::letter_state(row.state.kind());
    let discarded = row.state.discard().map(|discard| {
        let (why, at) = (dashboard_model::discard::why(discard), discard.at);
        view! { <div><dt>"Discarded"</dt><dd>{why}", "<At at=Signal::stored(at) absolute=true /></dd></div> }.into_any()
    });
    view! {
        <dl class="letter-facts">
            <div><dt>"Letter"</dt><dd class="mono">{id.clone()}<Copy text=id what="the letter ID" /></dd></div>
            <div><dt>"Message"</dt><dd class="mono">{message.clone()}<Copy text=message what="the message ID" /></dd></div>
            <div><dt>"State"</dt><dd>{state}</dd></div>
            {discarded}
            {money}
            {customer}
            {consumer}
            {producer}
            {tenant}
            {attempts}
            <div><dt>"Sent"</dt><dd><At at=Signal::stored(row.sent_at) absolute=true /></dd></div>
            {deadline}
            <div><dt>"Source"</dt><dd>{words::envelope(detail.diagnosis.envelope)}</dd></div>
            <div><dt>"Size"</dt><dd>{format!("{} bytes", count(row.size_bytes))}</dd></div>
        </dl>
    }
}

#[component]
fn Body(body: String, id: LetterId) -> impl IntoView {
    // The tree renders what is opened; the raw text of a megabyte would hold the page for seconds.
    let cut = json::cut(&body).map(ToString::to_string);
    let is_json = json::root(&body).is_some();
    let raw = RwSignal::new(!is_json);
    let text = StoredValue::new(body);
    let toaster = toaster();
    let long = cut.is_some().then(|| {
        let words = format!(
            "Raw shows the first {} of {}.",
            bytes_of(json::SHOWN_BYTES_MAX),
            bytes_of(text.with_value(String::len))
        );
        let press = move |()| {
            if crate::page::download::save(&text.get_value(), &format!("letter-{id}.txt")).is_err() {
                toaster.error("The browser blocked the download.");
            }
        };
        view! { <p class="notice"><span>{words}</span><Button press>"Download body"</Button></p> }.into_any()
    });
    let shown = StoredValue::new(cut);
    let shown = move || shown.get_value().unwrap_or_else(|| text.get_value());
    let switch = is_json.then(|| view! {
        <div class="switch" role="group" aria-label="How the body is shown">
            <button type="button" aria-pressed=attr(move || (!raw.get()).to_string()) on:click=on(move |_| raw.set(false))>"Tree"</button>
            <button type="button" aria-pressed=attr(move || raw.get().to_string()) on:click=on(move |_| raw.set(true))>"Raw"</button>
        </div>
    }.into_any());
    let not_json = (!is_json).then(|| view! { <span class="muted">"Not JSON."</span> }.into_any());
    view! {
        <section class="letter-part">
            <header>
                <h2>"Body"</h2>
                {switch}
                {not_json}
                <Copy text=Signal::derive(move || text.get_value()) what="the body" labelled=true />
            </header>
            {long}
            {part(move || if raw.get() {
                view! { <pre class="raw" tabindex="0">{shown()}</pre> }.into_any()
            } else {
                view! { <JsonView raw=text.get_value() /> }.into_any()
            })}
        </section>
    }
}

const TRACE_HEADER: &str = "AWSTraceHeader";
/// The type of attributes that SQS gives, in the table. Types of a sender's own begin with a capital.
const SYSTEM: &str = "system";

#[component]
fn Attributes(content: Content, trace_url: Option<String>) -> impl IntoView {
    let system = [("MessageGroupId", content.message_group_id), (TRACE_HEADER, content.trace_header)];
    let system =
        system.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_string(), SYSTEM.to_string(), value)));
    let own = content.attributes.into_iter().map(|(name, attribute)| match attribute.value {
        AttributeValue::Text(text) => (name, attribute.data_type, text),
        AttributeValue::Binary(base64) => {
            // Four characters of base64 carry three bytes; padding carries none.
            let bytes = base64.trim_end_matches('=').len() * 3 / 4;
            (name, format!("{}, {}", attribute.data_type, bytes_words(bytes)), base64)
        }
    });
    let rows: Vec<_> = own.chain(system).collect();
    if rows.is_empty() {
        return view! { <p class="muted">"No message attributes."</p> }.into_any();
    }
    let rows = rows.into_iter().map(|(name, kind, value)| {
        let what = format!("the attribute {name}");
        let link = trace_url
            .clone()
            .filter(|_| name == TRACE_HEADER && kind == SYSTEM)
            .map(|href| view! { <a href=href target="_blank" rel="noopener noreferrer">"Open trace ↗"</a> }.into_any());
        view! {
            <tr>
                <th scope="row" class="mono">{name}</th>
                <td class="muted">{kind}</td>
                <td class="attribute-value"><code>{value.clone()}</code><Copy text=value what=what />{link}</td>
            </tr>
        }
        .into_any()
    });
    view! {
        <section class="letter-part">
            <header><h2>"Attributes"</h2></header>
            <div class="scroll" role="region" aria-label="Attributes" tabindex="0">
                <table class="rows">
                    <thead><tr><th scope="col">"Name"</th><th scope="col">"Type"</th><th scope="col">"Value"</th></tr></thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}

fn bytes_words(bytes: usize) -> String {
    format!("{} as base64", bytes_of(bytes))
}

fn bytes_of(bytes: usize) -> String {
    dashboard_model::money::counted(bytes as u64, "byte", "bytes")
}

#[component]
fn Failures(detail: LetterAnswer) -> impl IntoView {
    let current = detail.row.group.clone();
    let row = move |death: domain::letter::Death| {
        let replay = death.replay.map(|id| {
            view! {
                " · returned from "<a href=format!("/replays/{id}")>"replay "{dashboard_model::ledger::short(&id)}</a>
            }
            .into_any()
        });
        let elsewhere = (death.group != current)
            .then(|| view! { " · "<a href=format!("/groups/{}", death.group)>"its own group"</a> }.into_any());
        let after =
            death.died_after.map(|at| view! { "between "<At at=Signal::stored(at) absolute=true />" and " }.into_any());
        let version = death.consumer_version.map(|version| format!(" · version {version}"));
        view! {
            <li>
                <span class="death-n">{death.number}</span>
                <span class="death-words">
                    <b>{death.title}</b>
                    <span class="muted">{after}<At at=Signal::stored(death.died_at) absolute=true />{version}{replay}{elsewhere}</span>
                </span>
            </li>
        }.into_any()
    };
    view! {
        <section class="letter-part">
            <header><h2>"Failures"</h2></header>
            <ol class="deaths">{detail.deaths.into_iter().rev().map(row).collect_view()}</ol>
        </section>
    }
}
