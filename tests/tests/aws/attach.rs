//! `dlo attach` on real queues, as LocalStack emulates them. MiniStack lacks ListDeadLetterSourceQueues.

use dlo_tests::endpoint::{Endpoint, new_name};
use lambda::connect;
use lambda::queue::SqsQueue;
use local::attach::examined;
use serde_json::json;
use std::sync::LazyLock;

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(Endpoint::localstack);

#[tokio::test]
async fn the_keys_of_a_dead_letter_queue_and_of_its_main_queue_are_remarked() {
    connect::provide_tls();
    let aws = connect::to_endpoint(&ENDPOINT.url).await;
    let queue = SqsQueue::new(&aws);
    let name = new_name("encrypted");
    let dlq = queue.create(&format!("{name}-dlq"), &[("KmsMasterKeyId", "alias/dead".into())]).await.expect("a queue");
    let redrive = json!({ "deadLetterTargetArn": dlq, "maxReceiveCount": 5 }).to_string();
    let settings = [("RedrivePolicy", redrive), ("KmsMasterKeyId", "alias/orders".into())];
    let main = queue.create(&name, &settings).await.expect("a queue");
    let url = queue.url(&dlq).await.expect("a URL");
    let candidate = examined(&aws, &url, "office").await.expect("an answer");
    assert_eq!(candidate.mains, [main]);
    for key in ["alias/dead", "alias/orders"] {
        let of_key = candidate.remarks.iter().filter(|remark| remark.contains(key) && remark.contains("KmsKeyArns"));
        assert_eq!(of_key.count(), 1, "{key}: {:?}", candidate.remarks);
    }
}
