//! The real office under faults: kills, freezes, full disks, cut logs, clock jumps and others, while orders flow and
//! replays run. After each round an oracle, which knows only the databases and the API, checks that no letter was lost,
//! doubled or miscounted.

pub mod arguments;
pub mod evidence;
pub mod fault;
pub mod observer;
pub mod office;
pub mod oracle;
pub mod report;
pub mod round;
pub mod wal;
