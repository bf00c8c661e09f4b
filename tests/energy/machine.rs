//! The meters of the machine that runs the tests, whichever it has.

use std::path::Path;
use std::time::Duration;

use couloir::energy::{self, Context, Supply};

#[test]
fn energy_of_this_machine_is_known_or_said_to_be_unknown() {
    let (source, log) = energy::open(&Context::at(Path::new("/"))).unwrap();
    let t0 = source.now_s();
    std::thread::sleep(Duration::from_millis(1000));
    let energy = source.interval(t0, source.now_s());
    println!("{}\n{energy:?}\n{:?}", log.join("\n"), source.cost());
    assert!(!log.is_empty());
    assert_eq!(source.measured(), energy.joules.is_some());
    assert_eq!(source.measured(), source.text() != "none");
    if let (Some(joules), Some(watts)) = (energy.joules, source.power_now()) {
        assert!(joules > 0.0 && joules < 1e5, "{joules} J in a second");
        assert!(watts > 0.0 && watts < 1e5, "{watts} W");
    }
}
