//! The proof of an open gate, without a gate.

fn main() {
    let _ = domain::gate::OpenGate { group: "g".into() };
}
