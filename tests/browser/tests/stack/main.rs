//! The deployed office in a real browser, behind its function URL. Run `cargo aws up`, then `cargo aws test`.

use browser::driver::Driver;
use browser::person::Person;
use dlo_tests::deployed::{Deployed, until, variable};
use domain::id::QueueArn;
use domain::time::Timestamp;
use lambda::connect;
use lambda::queue::SqsQueue;
use local::orders::{Kind, function};
use std::time::{Duration, SystemTime};
use wire::{GroupRow, GroupsAnswer};

/// The title of the gift cards' group.
const BUG: &str = "panic: index out of bounds: the len is * but the index is *";
const ORDERS: u64 = 10;
/// Enough for a few waves with their windows on a loaded machine.
const A_REPLAY: Duration = Duration::from_secs(120);

/// Opens a browser and signs a person in at the stack's own issuer.
async fn signs_in(driver: &Driver, name: &'static str) -> Person {
    let person = Person::new(driver, name).await;
    person.open(&variable("DLO_STACK_DASHBOARD")).await;
    person.clicks("button", "Sign in").await;
    person.writes("Username", name).await;
    person.writes("Password", &variable("DLO_STACK_PASSWORD")).await;
    person.clicks("button", "Sign in").await;
    person.find("heading", "Groups").await;
    person
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_replay_letters_behind_the_function_url() {
    let stack = Deployed::find();
    let token = variable("DLO_STACK_OPERATOR");
    let groups = async || stack.get::<GroupsAnswer>(&token, "/groups").await;
    let open = async || groups().await.summary.open_letters;
    let before = open().await;
    stack.deploy("v1").await;
    let queue = SqsQueue::new(&connect::to_endpoint(&stack.endpoint).await);
    let main = QueueArn::from("arn:aws:sqs:us-east-1:000000000000:orders");
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_millis();
    let now = Timestamp::from_ms(i64::try_from(since).expect("years to come"));
    function::place(&queue, &main, ORDERS, Some(Kind::GiftCard), now).await.expect("orders are placed");
    let counted = async || (open().await == before + ORDERS.cast_signed()).then_some(());
    until("every order is counted", counted).await;
    let answer = groups().await;
    // Lists show what all letters say in the place of the stars.
    let is_bug = |group: &&GroupRow| group.title.starts_with("panic: index out of bounds");
    let group = answer.groups.iter().find(is_bug).unwrap_or_else(|| panic!("no {BUG}: {answer:?}"));
    stack.sees_version(&token, &group.id, "v1").await;
    stack.deploy("v3").await;
    stack.sees_version(&token, &group.id, "v3").await;

    let driver = Driver::start();
    let otto = signs_in(&driver, "otto").await;
    otto.clicks("link", BUG).await;
    otto.sees("orders::pricing").await;
    otto.clicks("button", "Declare a fix…").await;
    otto.writes("Version, exactly as the deployment reports it", "v3").await;
    otto.clicks("button", "Declare fix").await;
    otto.clicks("button", "Plan replay").await;
    otto.find("button", "Plan again").await;

    let anna = signs_in(&driver, "anna").await;
    anna.clicks("link", BUG).await;
    anna.sees("No new failure for 3 s or more").await;
    anna.clicks("button", "Approve and replay…").await;
    anna.find("dialog", &format!("Replay {ORDERS} letters to orders?")).await;
    anna.writes("Why is it safe to replay now?", "Ten of them went through on staging.").await;
    let count = format!("Type {ORDERS} to confirm");
    if anna.has("textbox", &count).await {
        anna.writes(&count, &ORDERS.to_string()).await;
    }
    anna.clicks("button", "Approve and replay").await;
    anna.sees("Approved. Wave 1 is starting.").await;
    otto.sees_within("No open letters since", A_REPLAY).await;
    assert_eq!(open().await, before);
    // The pool's page has no icon.
    otto.leaves(&["favicon.ico"]).await;
    anna.leaves(&["favicon.ico"]).await;
}
