//! The customers of merged groups, each counted once. Each variant counts its own, so only those that several variants
//! share have to be found.

use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Expect, GroupFacts, Write};
use domain::group::groups_to_count;
use domain::id::GroupId;

/// Counts the customers of these groups again, where they have changed. What one sweep cannot read is left to the next.
pub(crate) async fn count(office: &Office, groups: &[GroupFacts]) {
    let sums = groups.iter().map(|facts| (&facts.variant, facts.counts.customers));
    for id in groups_to_count(sums) {
        if let Err(error) = count_one(office, id).await {
            tracing::warn!(group = %id, error = chain(&error), "customers were not counted; the next sweep tries again");
        }
    }
}

async fn count_one(office: &Office, id: &GroupId) -> Result<(), OfficeError> {
    let Some(group) = office.store.group(id).await? else { return Ok(()) };
    if group.merge.members.is_empty() {
        return Ok(());
    }
    let variants: Vec<GroupId> = std::iter::once(id).chain(&group.merge.members).cloned().collect();
    let counted = Some(office.store.customers_of(&variants).await?);
    if group.merge.counted == counted {
        return Ok(());
    }
    let mut after = group.moved(group.state.clone());
    after.merge.counted = counted;
    let write = Write::Variant { variant: Box::new(after), expect: Expect::Version(group.version) };
    // On a conflict another process has changed the group, perhaps its members. The next sweep counts again.
    let _ = commit(office, vec![write]).await?;
    Ok(())
}
