//! The bars of a sparkline.

/// The scale's smallest maximum. Without it, 3 letters would look like 9,000.
const SCALE_MIN: u64 = 6;

/// Returns the bars' heights for a strip `height` pixels high. A value above zero is at least one pixel high.
pub fn heights(values: &[u64], height: u32) -> Vec<u32> {
    let top = values.iter().copied().max().unwrap_or(0).max(SCALE_MIN);
    let scaled = |value: u64| (u128::from(value) * u128::from(height)).div_ceil(u128::from(top)) as u32;
    values.iter().map(|value| if *value == 0 { 0 } else { scaled(*value).max(1) }).collect()
}

/// Describes a strip or a chart that covers so many hours: `184 in 24 h, 42 in the last hour`.
pub fn words(values: &[u64], hours: u64, last_hour: u64) -> String {
    let total: u64 = values.iter().sum();
    format!("{} in {hours} h, {} in the last hour", super::money::count(total), super::money::count(last_hour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_letters_make_low_bars() {
        let rows: [(&[u64], &[u32]); 6] = [
            (&[], &[]),
            (&[0, 0], &[0, 0]),
            (&[0, 3], &[0, 12]),
            (&[6, 3], &[24, 12]),
            (&[9000, 1, 4500], &[24, 1, 12]),
            (&[u64::MAX, 1], &[24, 1]),
        ];
        for (values, expected) in rows {
            assert_eq!(heights(values, 24), expected);
        }
    }

    #[test]
    fn the_strip_has_a_description() {
        assert_eq!(words(&[0, 1200, 2], 3, 2), "1,202 in 3 h, 2 in the last hour");
    }
}
