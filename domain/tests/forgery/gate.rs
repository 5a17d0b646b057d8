//! A gate that nobody judged.

fn main() {
    let _ = domain::gate::Gate { group: "g".into(), conditions: Vec::new() };
}
