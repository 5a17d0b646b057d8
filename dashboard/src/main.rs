//! Mounts the dashboard.

fn main() {
    dashboard::start();
}
