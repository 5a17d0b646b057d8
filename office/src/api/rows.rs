//! The list of groups. Rows are ranked and filtered here and cut afterwards, so that no group is lost to the limit and
//! totals are exact at any size. A caller that names the version that it has gets only what differs.

use super::answer::ApiError;
use super::{Caller, Current};
use crate::gate::{LettersToSend, Moment, judge};
use crate::known::first_bucket;
use crate::office::Office;
use crate::port::GroupFacts;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Json, Query};
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use domain::group::merging::shown_name;
use domain::group::{GroupState, arrival_bucket};
use domain::limits::{ARRIVAL_BARS, ARRIVAL_BUCKET_MS, GROUPS_SHOWN_MAX, GROWING_BUCKETS, YOUNG_BAR_MS};
use domain::role::Permission;
use domain::time::{Span, Timestamp};
use futures_util::future::try_join_all;
use serde::Deserialize;
use wire::list::delta::Digests;
use wire::list::filter::Filter;
use wire::list::sort::{Dir, Sort};
use wire::list::view::View;
use wire::list::{ListQuery, rank, unrated, view_counts};
use wire::{DeathsChart, GateFact, GroupRow, GroupsAnswer, RowFacts, Summary};

/// Rows that are read at once. A row with a declared fix takes a few reads of the store and one call to its main queue.
const AT_ONCE: usize = 8;

/// The requested groups. [`super::params`] has checked every word.
#[derive(Debug, Deserialize)]
pub(super) struct GroupsQuery {
    q: Option<String>,
    view: Option<String>,
    sort: Option<String>,
    dir: Option<String>,
    limit: Option<usize>,
    since: Option<String>,
}

impl GroupsQuery {
    /// Returns the query. Without a view, groups of every view are listed.
    fn parsed(&self) -> ListQuery {
        let word = |word: &Option<String>| word.as_deref().unwrap_or_default().to_string();
        let (view, sort, dir) = (word(&self.view), word(&self.sort), word(&self.dir));
        ListQuery {
            filter: Filter::parse(self.q.as_deref().unwrap_or_default()),
            view: View::ALL.into_iter().find(|known| known.as_str() == view),
            sort: Sort::ALL.into_iter().find(|known| known.as_str() == sort).unwrap_or_default(),
            dir: Dir::ALL.into_iter().find(|known| known.as_str() == dir),
        }
    }
}

pub(super) async fn list(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    asked: Result<Query<GroupsQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(asked) = asked?;
    let (office, query) = (&api.office, asked.parsed());
    let now = office.now();
    let rows = rank(all(office, &caller, now).await?);
    let rates = office.policy.rates.as_ref();
    let mut summary = Summary::new(&rows, now);
    summary.about = rates.and_then(|rates| rates.convert(&summary.money));
    let matching = query.rows(&rows, now);
    let limit = asked.limit.unwrap_or(GROUPS_SHOWN_MAX).clamp(1, GROUPS_SHOWN_MAX);
    let mut answer = GroupsAnswer {
        groups: Vec::new(),
        version: String::new(),
        changes: None,
        summary,
        cut: matching.len() > limit,
        matching: matching.len() as u64,
        total: rows.len() as u64,
        in_views: view_counts(&rows, &query.filter, now).to_vec(),
        unrated: unrated(&rows, rates),
        rates_of: rates.map(|rates| rates.date.clone()),
        watching: api.watching.iter().map(|queue| queue.name().to_string()).collect(),
    };
    // Everything but the rows always has a JSON form.
    let rest = serde_json::to_string(&answer).unwrap_or_default();
    answer.groups = matching.into_iter().take(limit).cloned().collect();
    let digests = Digests::from_rows(&answer.groups);
    answer.version = digests.version();
    if let Some(version) = &asked.since {
        answer = digests.since(version, answer);
    }
    // The tag is that of the whole answer, in whatever form it is sent.
    Ok(([(ETAG, format!("W/\"{}\"", digests.tag(&rest)))], Json(answer)).into_response())
}

/// Returns the rows of all groups, in no order.
async fn all(office: &Office, caller: &Caller, now: Timestamp) -> Result<Vec<GroupRow>, ApiError> {
    let known = office.known_groups.now(&*office.store, first_bucket(now), now).await?;
    let mut rows = Vec::new();
    for some in known.groups().chunks(AT_ONCE) {
        rows.extend(try_join_all(some.iter().map(|facts| listed_row(office, caller, facts, now))).await?);
    }
    Ok(rows)
}

async fn listed_row(
    office: &Office,
    caller: &Caller,
    facts: &GroupFacts,
    now: Timestamp,
) -> Result<GroupRow, ApiError> {
    let gate = gate_of(office, caller, facts).await?;
    row(office, facts, gate, now).await
}

/// Returns what the gate of a group with a declared fix says to the caller.
async fn gate_of(office: &Office, caller: &Caller, facts: &GroupFacts) -> Result<Option<GateFact>, ApiError> {
    let has_plan = match &facts.variant.state {
        GroupState::FixDeclared { fix } => {
            office.store.plan(&facts.variant.id).await?.is_some_and(|plan| plan.fix == *fix)
        }
        GroupState::Paused { replay, fix: Some(_) } => {
            let total = office.store.ledger(replay).await?.total();
            total.in_flight + total.sending == 0
        }
        _ => return Ok(None),
    };
    let to_send = LettersToSend::now(office, facts).await?;
    let approver = caller.role.may(Permission::Approve).then(|| caller.person());
    let moment = Moment::Approval { approver: approver.as_ref(), waivers: &[] };
    let judged = judge(office, facts, &to_send, moment).await?;
    Ok(Some(GateFact::new(&(&judged.gate).into(), has_plan)))
}

/// Returns a group's deaths over time.
pub(super) fn chart(facts: &GroupFacts, now: Timestamp) -> DeathsChart {
    let first_bar_at = |bar_ms: i64| (now.as_ms().div_euclid(bar_ms) - (ARRIVAL_BARS as i64 - 1)) * bar_ms;
    let is_young = facts.variant.first_died_at.as_ms() >= first_bar_at(YOUNG_BAR_MS);
    let bar_ms = if is_young { YOUNG_BAR_MS } else { Span::from_mins(60).as_ms() };
    let from = first_bar_at(bar_ms);
    let mut deaths = vec![0; ARRIVAL_BARS];
    for (bucket, n) in &facts.arrivals {
        let bar = usize::try_from((bucket * ARRIVAL_BUCKET_MS - from).div_euclid(bar_ms));
        if let Some(deaths) = bar.ok().and_then(|bar| deaths.get_mut(bar)) {
            *deaths += n;
        }
    }
    DeathsChart { from: Timestamp::from_ms(from), bar_ms, deaths }
}

/// Returns the row of a group.
pub(super) async fn row(
    office: &Office,
    facts: &GroupFacts,
    gate: Option<GateFact>,
    now: Timestamp,
) -> Result<GroupRow, ApiError> {
    let per_bar = Span::from_mins(60).as_ms() / ARRIVAL_BUCKET_MS;
    let first = first_bucket(now);
    let mut arrivals = vec![0; ARRIVAL_BARS];
    for (bucket, n) in &facts.arrivals {
        // What is known may begin earlier.
        let bar = usize::try_from((bucket - first).div_euclid(per_bar)).ok();
        if let Some(bar) = bar.and_then(|bar| arrivals.get_mut(bar)) {
            *bar += n;
        }
    }
    let since = |buckets: i64| -> u64 {
        let after = arrival_bucket(now) - buckets;
        facts.arrivals.iter().filter(|(bucket, _)| *bucket > after).map(|(_, n)| n).sum()
    };
    let wave = match facts.variant.state.replay() {
        Some(id) => office
            .store
            .replay(id)
            .await?
            .and_then(|replay| replay.wave().map(|wave| (wave + 1, replay.plan().waves.len() as u32))),
        None => None,
    };
    let more = RowFacts {
        oldest_sent_at: facts.oldest_sent_at,
        loss_at: facts.loss_at,
        arrivals,
        arrivals_last_hour: since(per_bar),
        arrivals_recent: since(GROWING_BUCKETS),
        wave,
        gate,
        about: office.policy.rates.as_ref().and_then(|rates| rates.convert(&facts.counts.open().money)),
    };
    let row = GroupRow::new(&facts.variant, &facts.counts, more);
    let title = shown_name(&facts.variant, &facts.counts, &office.policy.groups).into_owned();
    Ok(GroupRow { title, ..row })
}
