//! A judged gate that loses its unmet conditions.

fn forge(mut gate: domain::gate::Gate) {
    gate.conditions.clear();
}

fn main() {
    let _ = forge;
}
