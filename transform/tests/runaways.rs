//! Programs that do not end or use too much memory: each results in a clear failure, and the next letter works.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use transform::{Applied, Failure, Transforms};

/// How long a runaway may take in these tests: its limit of 250 ms, the start of a new worker, and some time for a machine
/// that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(12);

fn workers() -> Transforms {
    Transforms::with_executable(PathBuf::from(env!("CARGO_BIN_EXE_transform-worker")))
}

#[tokio::test]
async fn a_runaway_fails_alone_and_the_next_letter_works() {
    let workers = workers();
    let slow: &[Failure] = &[Failure::TooSlow];
    let big: &[Failure] = &[Failure::TooMuchMemory, Failure::TooSlow];
    let deep: &[Failure] = &[Failure::TooMuchRecursion, Failure::TooMuchMemory, Failure::TooSlow];
    let rows: [(&str, &[Failure]); 14] = [
        ("def f: f; f", slow),
        ("def f: 1 + f; f", deep),
        ("def f(x): f(x | x); f(.)", deep),
        ("last(range(1e12))", slow),
        ("[range(1e9)]", big),
        ("[range(1e9) | tostring]", big),
        ("\"x\" * 1000000000", &[Failure::TooMuchMemory]),
        ("\"x\" * 9000000000000000000", &[Failure::TooMuchMemory]),
        ("\"xxx\" * 9000000000000000000", &[Failure::TooMuchMemory]),
        ("[limit(1e9; repeat(1))]", big),
        ("reduce range(1e9) as $i (\"x\"; . + .)", big),
        ("reduce range(1e9) as $i (.; [.])", deep),
        ("until(false; .)", slow),
        ("[recurse([., .])] | length", big),
    ];
    for (program, expected) in rows {
        // This program fails on the first letter only.
        let guarded = format!("if .n == 1 then ({program}) else .done = true end");
        let started = Instant::now();
        let run = workers.sending().run(&guarded, &[r#"{"n":1}"#, r#"{"n":2}"#], false).await.expect("a worker");
        let [first, second] = &run.expect("a program")[..] else { panic!("two outcomes") };
        let failure = first.as_ref().expect_err(program);
        assert!(expected.contains(failure), "{program}: {failure}");
        let done = Applied::Changed { body: r#"{"n":2,"done":true}"#.into(), changes: vec![] };
        assert_eq!(second, &Ok(done), "after {program}");
        assert!(started.elapsed() < PATIENCE, "{program} took {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_program_too_large_to_compile_is_reported_as_faulty() {
    let workers = workers();
    for program in [format!("{}.{}", "(".repeat(2_000), ")".repeat(2_000)), "[".repeat(4_000)] {
        match workers.sending().run(&program, &["{}"], false).await.expect("a worker") {
            Err(faults) => assert!(!faults.is_empty()),
            Ok(outcomes) => assert!(matches!(outcomes[0], Ok(Applied::Unchanged)), "{outcomes:?}"),
        }
    }
    assert_eq!(workers.sending().run(".", &["{}"], false).await.unwrap().unwrap(), [Ok(Applied::Unchanged)]);
}

#[tokio::test]
async fn the_largest_body_fits() {
    let workers = workers();
    let text = format!("{{\"a\":\"{}\"}}", "é\\n".repeat(200_000));
    let body = format!("{text}{}", " ".repeat(1024 * 1024 - text.len()));
    assert_eq!(workers.sending().run(".", &[&body], false).await.unwrap().unwrap(), [Ok(Applied::Unchanged)]);
    let changed = workers.sending().run(".b = 1", &[&text], false).await.unwrap().unwrap();
    assert!(matches!(&changed[0], Ok(Applied::Changed { body, .. }) if body.ends_with(",\"b\":1}")));
}

/// The bodies of a MiB that become the most values, through programs that touch each.
#[tokio::test]
async fn the_worst_bodies_fit_into_a_workers_memory() {
    let workers = workers();
    let list = |item: &str| {
        let items = vec![item; (1024 * 1024 - 2) / (item.len() + 1)];
        format!("[{}]", items.join(","))
    };
    for (program, item) in [(".", "{\"a\":1}"), (".", "[]"), (".", "1"), ("map(.b = 1) | .[:9]", "{\"a\":1}")] {
        let outcome = workers
            .sending()
            .run(program, &[&list(item)], false)
            .await
            .expect("a worker")
            .expect("a program")
            .remove(0);
        // An unoptimised build may exceed the time limit, but no build may exceed the memory limit.
        assert!(matches!(outcome, Ok(_) | Err(Failure::TooSlow)), "{program} over {item}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_wrong_executable_is_an_error_of_the_worker_and_not_of_the_letter() {
    for executable in ["/bin/true", "/nowhere/dlo"] {
        let workers = Transforms::with_executable(PathBuf::from(executable));
        workers.sending().run(".", &["{}"], false).await.map(|_| ()).expect_err(executable);
    }
}

#[tokio::test]
async fn concurrent_callers_get_their_own_results() {
    let workers = std::sync::Arc::new(workers());
    let callers = (0..6).map(|caller| {
        let workers = workers.clone();
        tokio::spawn(async move {
            let program = format!(".by = {caller}");
            for letter in 0..20 {
                let body = format!("{{\"n\":{letter}}}");
                let run = workers.sending().run(&program, &[&body], false).await.unwrap().unwrap();
                let sent = format!("{{\"n\":{letter},\"by\":{caller}}}");
                assert_eq!(run, [Ok(Applied::Changed { body: sent, changes: vec![] })]);
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("a caller");
    }
}

/// Runs a program that never ends over `count` letters.
async fn never_ending(runner: transform::Runner<'_>, count: usize) {
    let bodies = vec!["{}"; count];
    runner.run("def f: f; f", &bodies, false).await.expect("a worker").expect("a program");
}

#[tokio::test]
async fn sends_do_not_wait_for_previews() {
    let workers = std::sync::Arc::new(workers());
    let (admitted, mut previews) = tokio::sync::mpsc::unbounded_channel();
    // Each preview that gets a place would take longer than this test.
    let callers: Vec<_> = (0..40)
        .map(|_| {
            let (workers, admitted) = (workers.clone(), admitted.clone());
            tokio::spawn(async move {
                let place = workers.previewing();
                let _ = admitted.send(place.is_ok());
                if let Ok(runner) = place {
                    never_ending(runner, 1_000).await;
                }
            })
        })
        .collect();
    let mut places = 0;
    for _ in 0..callers.len() {
        places += usize::from(previews.recv().await.expect("an answer"));
    }
    assert_eq!(places, transform::PREVIEWS_MAX, "all others are refused at once");
    let run = workers.sending().run(".sent = true", &["{}"], false).await.unwrap().unwrap();
    assert!(matches!(&run[0], Ok(Applied::Changed { .. })), "{run:?}");
    assert_eq!(callers.iter().filter(|caller| !caller.is_finished()).count(), places, "the send was faster");
    assert!(matches!(workers.previewing().map(|_| ()), Err(transform::WorkerError::Busy)));
    for caller in &callers {
        caller.abort();
    }
}

#[tokio::test]
async fn a_cancelled_preview_frees_its_place_and_its_worker() {
    let workers = workers();
    // More previews than there are places and workers, each dropped while its program runs.
    for _ in 0..2 * transform::PREVIEWS_MAX {
        let preview = never_ending(workers.previewing().expect("a place"), 1_000);
        tokio::select! {
            biased;
            () = preview => panic!("it ended"),
            () = tokio::task::yield_now() => {}
        }
    }
    let runner = workers.previewing().expect("a place");
    assert_eq!(runner.run(".", &["{}"], false).await.unwrap().unwrap(), [Ok(Applied::Unchanged)]);
}
