//! The chart of a group's failures over time: its words, and where deployments and fixes lie on it.

use domain::time::{Span, Timestamp};
use wire::{DeathsChart, GroupAnswer};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The bars of a young group's chart come and go in steps, so that the scale does not move with every bar.
const STEP_BARS: usize = 8;

/// Returns what to show of a group's chart. Of a young group that is little more than its life, in steps of two hours: six
/// hours with one bar at their end would show nothing but that it is young.
pub fn shown(chart: &DeathsChart) -> DeathsChart {
    let lived = chart.deaths.iter().position(|n| *n > 0).map_or(0, |first| chart.deaths.len() - first);
    let bars = (lived + STEP_BARS / 2).next_multiple_of(STEP_BARS).min(chart.deaths.len());
    let dropped = if chart.bar_ms < HOUR_MS { chart.deaths.len() - bars } else { 0 };
    DeathsChart {
        from: chart.from.plus(Span::from_ms(chart.bar_ms * dropped as i64)),
        bar_ms: chart.bar_ms,
        deaths: chart.deaths[dropped..].to_vec(),
    }
}

/// A moment that explains why failures began or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The moment.
    pub at: Timestamp,
    /// What happened: `orders v2 went live`.
    pub words: String,
}

/// Returns the chart's title: `Failures per hour`, `Failures per 15 min`.
pub fn title(chart: &DeathsChart) -> String {
    format!("Failures per {}", if chart.bar_ms == HOUR_MS { "hour".to_string() } else { minutes(chart.bar_ms) })
}

/// Describes the chart: `184 in 24 h, 42 in the last hour`.
pub fn words(chart: &DeathsChart, last_hour: u64) -> String {
    crate::spark::words(&chart.deaths, hours(chart).unsigned_abs(), last_hour)
}

/// Returns the hours that the chart covers.
pub fn hours(chart: &DeathsChart) -> i64 {
    chart.bar_ms * chart.deaths.len() as i64 / HOUR_MS
}

/// Names a bar in the chart's table, counted from the newest: `now`, `15 min ago`, `3 h ago`.
pub fn bar_name(chart: &DeathsChart, from_last: usize) -> String {
    let ago = chart.bar_ms * from_last as i64;
    match ago {
        0 => "now".to_string(),
        ago if ago % HOUR_MS == 0 => format!("{} h ago", ago / HOUR_MS),
        ago if ago < HOUR_MS => format!("{} ago", minutes(ago)),
        ago => format!("{} h {} ago", ago / HOUR_MS, minutes(ago % HOUR_MS)),
    }
}

fn minutes(ms: i64) -> String {
    format!("{} min", ms / 60_000)
}

/// Returns the deployment and the fix that lie within the chart, oldest first.
pub fn marks(detail: &GroupAnswer) -> Vec<Mark> {
    let deployment = detail.deployment.as_ref().map(|deployment| Mark {
        at: deployment.at,
        words: format!("{} {} went live", deployment.service, deployment.version),
    });
    let fix = detail.row.state.fix();
    let fix = fix.map(|fix| Mark { at: fix.declared_at, words: format!("fix {} declared", fix.reference) });
    let chart = shown(&detail.chart);
    let mut marks: Vec<Mark> =
        deployment.into_iter().chain(fix).filter(|mark| place(&chart, mark.at).is_some()).collect();
    marks.sort_by_key(|mark| mark.at);
    marks
}

/// Returns where a moment lies on the chart, from 0 to 1; `None` outside of it.
pub fn place(chart: &DeathsChart, at: Timestamp) -> Option<f64> {
    let width = Span::from_ms(chart.bar_ms * chart.deaths.len() as i64);
    let inside = at.since(chart.from);
    let is_within = inside.as_ms() >= 0 && inside.as_ms() <= width.as_ms() && width.as_ms() > 0;
    is_within.then(|| inside.as_ms() as f64 / width.as_ms() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(bar_ms: i64) -> DeathsChart {
        DeathsChart { from: Timestamp::from_ms(1_000_000), bar_ms, deaths: vec![0, 1200, 0, 2] }
    }

    #[test]
    fn bars_are_hours_or_quarters() {
        let (hours_each, quarters) = (chart(HOUR_MS), chart(HOUR_MS / 4));
        assert_eq!(title(&hours_each), "Failures per hour");
        assert_eq!(title(&quarters), "Failures per 15 min");
        assert_eq!(words(&hours_each, 2), "1,202 in 4 h, 2 in the last hour");
        assert_eq!(words(&quarters, 2), "1,202 in 1 h, 2 in the last hour");
        let names = |chart: &DeathsChart| [0, 1, 4, 5].map(|from_last| bar_name(chart, from_last));
        assert_eq!(names(&hours_each), ["now", "1 h ago", "4 h ago", "5 h ago"]);
        assert_eq!(names(&quarters), ["now", "15 min ago", "1 h ago", "1 h 15 min ago"]);
    }

    #[test]
    fn a_young_group_fills_its_chart() {
        let rows: [(i64, &[usize], usize); 7] = [
            // Width of a bar, the bars with failures of 24, and how many are shown.
            (HOUR_MS / 4, &[23], 8),
            (HOUR_MS / 4, &[20, 23], 8),
            (HOUR_MS / 4, &[19], 16),
            (HOUR_MS / 4, &[12], 16),
            (HOUR_MS / 4, &[11], 24),
            (HOUR_MS / 4, &[0], 24),
            (HOUR_MS, &[23], 24),
        ];
        for (bar_ms, failed, expected) in rows {
            let deaths: Vec<u64> = (0..24).map(|bar| u64::from(failed.contains(&bar))).collect();
            let all = DeathsChart { from: Timestamp::from_ms(0), bar_ms, deaths };
            let shown = shown(&all);
            let end = |chart: &DeathsChart| chart.from.as_ms() + chart.bar_ms * chart.deaths.len() as i64;
            assert_eq!(shown.deaths.len(), expected, "{failed:?}");
            assert_eq!(shown.deaths.iter().sum::<u64>(), failed.len() as u64, "no failure is dropped: {failed:?}");
            assert_eq!(end(&shown), end(&all), "{failed:?}");
        }
    }

    #[test]
    fn a_moment_outside_the_chart_has_no_place() {
        let chart = chart(HOUR_MS);
        let at = |ms: i64| place(&chart, chart.from.plus(Span::from_ms(ms)));
        let rows =
            [(-1, None), (0, Some(0.0)), (2 * HOUR_MS, Some(0.5)), (4 * HOUR_MS, Some(1.0)), (4 * HOUR_MS + 1, None)];
        for (ms, expected) in rows {
            assert_eq!(at(ms), expected, "{ms}");
        }
        assert_eq!(place(&DeathsChart::default(), Timestamp::from_ms(0)), None);
    }
}
