//! Replays the fuzzers' corpus with any compiler: past findings stay fixed.

// The targets themselves are part of the fuzz crate.
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::path::Path;

#[test]
fn every_input_of_the_corpus_still_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, run) in targets::TARGETS {
        let files = std::fs::read_dir(corpus.join(name)).unwrap().map(|entry| entry.unwrap().path());
        let inputs: Vec<_> = files.map(|path| std::fs::read(path).unwrap()).collect();
        assert!(inputs.len() >= 10, "{name} has a corpus");
        inputs.iter().for_each(|input| run(input));
    }
}
