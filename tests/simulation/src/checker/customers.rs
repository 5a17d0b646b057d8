//! The customers of each variant, as the office has committed them.

use super::*;
use domain::group::Customers;
use office::port::GroupFacts;

impl Checker {
    /// Checks how many customers each variant counts, and how many each group says it has.
    pub fn customers_agree(&self, listed: &[GroupFacts]) -> Result<(), String> {
        let observed = self.observed();
        let customers = |id: &GroupId| observed.customers.get(id).cloned().unwrap_or_default();
        for facts in listed {
            let (id, merge, own) = (&facts.variant.id, &facts.variant.merge, customers(&facts.variant.id));
            let counted = facts.counts.customers;
            if counted != own.len() as u64 {
                return Err(format!("variant {id} counts {counted} customers, but has {own:?}"));
            }
            let members: Vec<_> = merge.members.iter().map(customers).collect();
            let sum = counted + members.iter().map(|member| member.len() as u64).sum::<u64>();
            let all: BTreeSet<_> = members.into_iter().chain([own]).flatten().collect();
            let (said, number) = (merge.customers(sum), all.len() as u64);
            let is_right = match said {
                Customers::Exact(said) => said == number,
                Customers::AtMost(said) => said >= number,
            };
            if !is_right {
                return Err(format!("group {id} says {said:?} customers, but has {number}: {merge:?}"));
            }
        }
        Ok(())
    }
}
