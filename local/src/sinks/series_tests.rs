//! The embedded metrics: what they store, what they refuse, and their size limit.

use super::*;
use domain::metric::{AGE_AT_DEATH, ARRIVALS, OPEN_LETTERS, REVENUE_AT_RISK};

fn metrics() -> (SeriesMetrics, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (SeriesMetrics::open(&folder.path().join("metrics.db")).unwrap(), folder)
}

fn at_s(seconds: i64) -> Timestamp {
    Timestamp::from_ms(1_763_600_040_000 + seconds * 1_000)
}

async fn everything(metrics: &SeriesMetrics, metric: &Metric) -> Vec<Series> {
    metrics.series(metric.name, at_s(-1_000_000), at_s(10_000_000)).await.unwrap()
}

#[tokio::test]
async fn values_of_a_minute_are_combined() {
    let (metrics, _folder) = metrics();
    let age = |at, values: &[(f64, u32)]| Datum { values: values.to_vec(), ..Datum::one(&AGE_AT_DEATH, &[], at, 0.0) };
    metrics.put(&[age(at_s(0), &[(10.0, 2), (4.0, 1)]), age(at_s(59), &[(30.5, 1)])]).await.unwrap();
    metrics.put(&[age(at_s(60), &[(1.0, 1)])]).await.unwrap();
    metrics.put(&[age(at_s(1), &[(5.0, 1)])]).await.unwrap();
    let first = Point { at: at_s(0), count: 5, sum: 59.5, min: 4.0, max: 30.5, last: 5.0 };
    let second = Point { at: at_s(60), count: 1, sum: 1.0, min: 1.0, max: 1.0, last: 1.0 };
    let expected = |points: &[Point]| vec![Series { dimensions: Vec::new(), points: points.to_vec() }];
    assert_eq!(everything(&metrics, &AGE_AT_DEATH).await, expected(&[first, second]));
    let name = AGE_AT_DEATH.name;
    assert_eq!(metrics.series(name, at_s(60), at_s(61)).await.unwrap(), expected(&[second]));
    assert_eq!(metrics.series(name, at_s(30), at_s(59)).await.unwrap(), expected(&[first]));
}

#[tokio::test]
async fn series_of_different_dimensions_are_separate() {
    let (metrics, _folder) = metrics();
    let money = |currency, amount| Datum::one(&REVENUE_AT_RISK, &[currency], at_s(0), amount);
    metrics.put(&[money("USD", 3.0), money("EUR", 1.0), money("EUR", 0.5)]).await.unwrap();
    metrics.put(&[Datum::one(&ARRIVALS, &["transient", "timeout"], at_s(0), 2.0)]).await.unwrap();
    let found = everything(&metrics, &REVENUE_AT_RISK).await;
    let sums: Vec<_> = found.iter().map(|series| (series.dimensions.join("/"), series.points[0].sum)).collect();
    assert_eq!(sums, [("EUR".to_owned(), 1.5), ("USD".to_owned(), 3.0)]);
    assert_eq!(everything(&metrics, &ARRIVALS).await[0].dimensions, ["transient", "timeout"]);
    assert_eq!(everything(&metrics, &OPEN_LETTERS).await, []);
}

#[tokio::test]
async fn datum_outside_the_catalogue_is_refused_and_nothing_is_stored() {
    let (metrics, _folder) = metrics();
    let good = Datum::one(&OPEN_LETTERS, &[], at_s(0), 1.0);
    let bad = [
        Datum { name: "openletters".into(), ..good.clone() },
        Datum { dimensions: vec!["tenant-7".into()], ..good.clone() },
        Datum { name: ARRIVALS.name.into(), dimensions: vec!["transient".into()], ..good.clone() },
        Datum { values: Vec::new(), ..good.clone() },
        Datum { values: vec![(1.0, 0)], ..good.clone() },
        Datum { values: vec![(f64::NAN, 1)], ..good.clone() },
        Datum { values: vec![(f64::INFINITY, 1)], ..good.clone() },
    ];
    for datum in bad {
        assert!(metrics.put(&[good.clone(), datum.clone()]).await.is_err(), "{datum:?}");
    }
    assert!(metrics.put(&vec![good.clone(); 1_001]).await.is_err());
    assert_eq!(everything(&metrics, &OPEN_LETTERS).await, []);
    metrics.put(&vec![good; 1_000]).await.unwrap();
    assert_eq!(everything(&metrics, &OPEN_LETTERS).await[0].points[0].count, 1_000);
    assert!(metrics.series("no such metric", at_s(0), at_s(1)).await.is_err());
}

#[tokio::test]
async fn oldest_minutes_are_deleted_after_fifteen_days() {
    let (metrics, _folder) = metrics();
    let minutes = POINTS_MAX + 100;
    let data: Vec<_> = (0..minutes).map(|n| Datum::one(&OPEN_LETTERS, &[], at_s(n * 60), n as f64)).collect();
    for chunk in data.chunks(1_000) {
        metrics.put(chunk).await.unwrap();
    }
    let points = &everything(&metrics, &OPEN_LETTERS).await[0].points;
    assert_eq!(points.len() as i64, POINTS_MAX);
    assert_eq!((points[0].at, points[0].last), (at_s(100 * 60), 100.0));
}

#[tokio::test]
async fn metrics_survive_a_restart_and_a_foreign_file_is_refused() {
    let (metrics, folder) = metrics();
    metrics.put(&[Datum::one(&OPEN_LETTERS, &[], at_s(0), 4.0)]).await.unwrap();
    drop(metrics);
    let path = folder.path().join("metrics.db");
    assert_eq!(everything(&SeriesMetrics::open(&path).unwrap(), &OPEN_LETTERS).await[0].points[0].last, 4.0);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(matches!(SeriesMetrics::open(&path), Err(SeriesError::Version { found: 2, .. })));
    std::fs::write(&path, "not a database, but long enough to be parsed as one ".repeat(100)).unwrap();
    assert!(matches!(SeriesMetrics::open(&path), Err(SeriesError::File { .. })));
}
