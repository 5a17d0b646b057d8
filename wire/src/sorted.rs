//! One stable sort for all types. The standard sort is compiled once per type, at 10 kB each.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Returns the items in order. Equal items keep their order.
pub fn sorted<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order = order(items.len(), &|a, b| compare(&items[a], &items[b]));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| items[at].take()).collect()
}

fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn equal_items_keep_their_order() {
        let items = vec![(2, "a"), (1, "b"), (2, "c"), (1, "d"), (0, "e")];
        let expected = [(0, "e"), (1, "b"), (1, "d"), (2, "a"), (2, "c")];
        assert_eq!(sorted(items, |a, b| a.0.cmp(&b.0)), expected);
        assert!(sorted(Vec::<u8>::new(), u8::cmp).is_empty());
    }
}
