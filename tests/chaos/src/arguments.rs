//! The arguments of the program `chaos`. `cargo xtask chaos` reads them with the same code, before it compiles anything.

const USAGE: &str = "usage: chaos [--minutes N] [--rounds N] [--seed S] [--offices N] [--fault <name>]";

/// What is done to the office in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGSTOP, and SIGCONT seconds later.
    Freeze,
    /// The file system of its folder is full for seconds.
    FullDisk,
    /// Its files cannot grow for seconds.
    FileLimit,
    /// SIGKILL, and both logs lose what lies behind their last whole transaction.
    CutLog,
    /// SIGKILL, and flipped bits in its log until the next start has shown what it does.
    DamagedLog,
    /// The clock jumps by two hours, and jumps back at the next start.
    ClockJump,
    /// Another office starts on its folder.
    SecondProcess,
    /// It can open no further file or connection for seconds.
    FewHandles,
    /// It gets no further memory for seconds.
    LittleMemory,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 10] = [
        Fault::Kill,
        Fault::Freeze,
        Fault::FullDisk,
        Fault::FileLimit,
        Fault::CutLog,
        Fault::DamagedLog,
        Fault::ClockJump,
        Fault::SecondProcess,
        Fault::FewHandles,
        Fault::LittleMemory,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Kill => "kill",
            Fault::Freeze => "freeze",
            Fault::FullDisk => "full-disk",
            Fault::FileLimit => "file-limit",
            Fault::CutLog => "cut-log",
            Fault::DamagedLog => "damaged-log",
            Fault::ClockJump => "clock-jump",
            Fault::SecondProcess => "second-process",
            Fault::FewHandles => "few-handles",
            Fault::LittleMemory => "little-memory",
        }
    }
}

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// How long the run takes.
    pub minutes: u64,
    /// Rounds of each office at most.
    pub rounds: u64,
    /// The choices of the run. `None` for new ones.
    pub seed: Option<u64>,
    /// Offices at once.
    pub offices: u64,
    /// The faults to choose from.
    pub faults: Vec<Fault>,
}

/// Reads the arguments. The error says which there are.
pub fn read(args: &[String]) -> Result<Options, String> {
    let mut options = Options { minutes: 5, rounds: u64::MAX, seed: None, offices: 4, faults: Fault::ALL.to_vec() };
    for pair in args.chunks(2) {
        let [flag, value] = pair else { return Err(USAGE.to_owned()) };
        let number = || value.parse().map_err(|_| USAGE.to_owned());
        match flag.as_str() {
            "--minutes" => options.minutes = number()?,
            "--rounds" => options.rounds = number()?,
            "--seed" => options.seed = Some(number()?),
            "--offices" => options.offices = number()?,
            "--fault" => {
                let fault = Fault::ALL.into_iter().find(|fault| fault.name() == value);
                options.faults = vec![fault.ok_or_else(|| {
                    format!("There is no fault `{value}`. There are {}.", Fault::ALL.map(Fault::name).join(", "))
                })?];
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_come_in_pairs() {
        let read = |line: &str| read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let options = read("--minutes 10 --seed 7 --fault cut-log").expect("options");
        assert_eq!((options.minutes, options.seed, options.faults), (10, Some(7), vec![Fault::CutLog]));
        let options = read("").expect("options");
        assert_eq!((options.offices, options.faults.len()), (4, Fault::ALL.len()));
        for wrong in ["--minutes", "--minutes many", "--fault flood", "10 20"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
