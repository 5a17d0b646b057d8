//! What people do in a [`World`] before a test begins to ask.

use super::World;
use domain::fix::FixKind;
use domain::id::GroupId;
use domain::time::Span;
use domain::wire::DeclareFix;
use lambda::act;

impl World {
    /// Orders that version 1 fails on, all of one cause.
    pub async fn one_cause(&self, orders: u64) -> GroupId {
        self.place(0, orders).await;
        self.consume(&|_| Some("orders::pricing::Overflow"), "v1").await;
        let report = self.intake().await;
        assert_eq!((report.kept as u64, report.new_groups), (orders, 1));
        self.only_group().await
    }

    /// A moment later Otto declares that a version is the fix. The gate then waits ten seconds for quiet.
    pub async fn declares(&self, group: &GroupId, version: &str) {
        self.advance(Span::from_secs(1));
        let fix = DeclareFix { kind: FixKind::Deploy, reference: version.into(), note: None };
        act::declare_fix(&self.office, &self.otto(), group, &fix).await.expect("a fix");
    }
}
