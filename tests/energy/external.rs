//! A meter outside the node: a pseudo-terminal and a TCP listener play it.

use std::fs::File;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use couloir::energy::external::{Address, Column, External};
use couloir::energy::{self, Context, Source, Supply};
use nix::pty::openpty;
use nix::unistd::ttyname;

fn context(address: Address, column: Column, unit: &str) -> Context {
    Context {
        external: Some(External {
            address,
            column,
            unit: unit.parse().unwrap(),
            place: "--meter M".into(),
        }),
        // No sensor of this machine.
        ..Context::at(&PathBuf::from("/nowhere/at/all"))
    }
}

/// Calls `line` every `period` with the seconds since the start, until it is dropped.
struct Playing(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Playing {
    fn start(period: Duration, mut line: impl FnMut(f64) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            while !seen.load(Ordering::Relaxed) {
                line(start.elapsed().as_secs_f64());
                std::thread::sleep(period);
            }
        });
        Self(stop, Some(thread))
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap();
    }
}

/// A terminal's two ends: where the meter writes, and the device to open.
fn terminal() -> (File, OwnedFd, Address) {
    let pty = openpty(None, None).unwrap();
    let device = ttyname(pty.slave.as_fd()).unwrap();
    let address = Address::Serial {
        device,
        baud: 115_200,
    };
    (File::from(pty.master), pty.slave, address)
}

/// The source must see `watts` for `seconds` within 2 % and `more` joules, with an uncertainty. A
/// busy machine may stop a thread for seconds, so one of five attempts must succeed.
fn measures(source: &Source, watts: f64, seconds: f64, more: f64) {
    let mut seen = Vec::new();
    for _ in 0..5 {
        let t0 = source.now_s();
        std::thread::sleep(Duration::from_secs_f64(seconds));
        let t1 = source.now_s();
        let (energy, want) = (source.interval(t0, t1), watts * (t1 - t0));
        let good = |joules: f64| (joules - want).abs() < 0.02 * want + more;
        if energy.joules.is_some_and(good) && energy.uncertainty_j.is_some_and(|u| u > 0.0) {
            return;
        }
        seen.push((energy, want));
    }
    panic!("{seen:?}")
}

fn wait_for(source: &Source, part: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut all = String::new();
    while Instant::now() < deadline {
        all += &source.take_messages().join("\n");
        if all.contains(part) {
            return all;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{part:?} is not in {all:?}")
}

#[test]
fn power_over_a_serial_line_within_two_percent_and_garbage_is_skipped() {
    let (mut master, _slave, address) = terminal();
    let mut n = 0;
    // 6 W on average, from 4 to 8 W; every seventh line is none.
    let _meter = Playing::start(Duration::from_millis(5), move |t| {
        n += 1;
        let watts = 6.0 + 2.0 * (20.0 * t).sin();
        let _ = match n % 7 {
            0 => master.write_all(b"\xff\xfe#?;\r\n"),
            _ => master.write_all(format!("{n}; {:.1}\r\n", 1e3 * watts).as_bytes()),
        };
    });
    let context = context(address, Column::Number(2), "mW");
    let (source, log) = energy::open_with(&context, 0.01).unwrap();
    let log = log.join("\n");
    assert!(source.measured(), "{log}");
    assert!(source.text().starts_with("meter serial:/dev/pts/"), "{log}");
    // Over 4.8 periods of the sine its mean is 6 W within 2 * 2 / (20 /s).
    measures(&source, 6.0, 1.5, 4.0 / 20.0);
}

#[test]
fn a_header_names_the_column_of_an_energy_counter() {
    let (mut master, _slave, address) = terminal();
    let mut n = 0;
    let _meter = Playing::start(Duration::from_millis(5), move |t| {
        n += 1;
        let _ = match n {
            1 => master.write_all(b"time,volts,energy\n"),
            _ => master.write_all(format!("{t:.3},5.0,{:.6}\n", 7.0 * t).as_bytes()),
        };
    });
    let context = context(address, Column::Name("energy".into()), "J");
    let (source, _) = energy::open_with(&context, 0.01).unwrap();
    measures(&source, 7.0, 1.0, 0.0);
}

#[test]
fn a_broken_connection_is_said_and_made_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let cut = Arc::new(AtomicBool::new(false));
    let seen = cut.clone();
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _): (TcpStream, _) = listener.accept().unwrap();
            while stream.write_all(b"5.0\n").is_ok() && !seen.swap(false, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let address = format!("tcp:127.0.0.1:{port}").parse().unwrap();
    let (source, _) = energy::open_with(&context(address, Column::Number(1), "W"), 0.01).unwrap();
    let t0 = source.now_s();
    assert!(source.energy_between(t0, source.now_s()).is_some());
    cut.store(true, Ordering::Relaxed);
    let said = wait_for(&source, "connected again");
    assert!(said.contains("the connection was closed"), "{said}");
    // A second without lines is bridged.
    std::thread::sleep(Duration::from_millis(100));
    let t1 = source.now_s();
    let joules = source.energy_between(t0, t1).expect("bridged");
    assert!((joules / (5.0 * (t1 - t0)) - 1.0).abs() < 0.02, "{joules}");
    drop(source);
    server.join().unwrap();
}

#[test]
fn a_stalled_meter_makes_energy_unknown_until_it_returns() {
    let (mut master, _slave, address) = terminal();
    let stalled = Arc::new(AtomicBool::new(false));
    let seen = stalled.clone();
    let _meter = Playing::start(Duration::from_millis(5), move |_| {
        if !seen.load(Ordering::Relaxed) {
            let _ = master.write_all(b"3\n");
        }
    });
    let (source, _) = energy::open_with(&context(address, Column::Number(1), "W"), 0.01).unwrap();
    let t0 = source.now_s();
    stalled.store(true, Ordering::Relaxed);
    let said = wait_for(&source, "stopped delivering");
    assert!(said.contains("s old"), "{said}");
    assert_eq!(source.energy_between(t0, source.now_s()), None);
    stalled.store(false, Ordering::Relaxed);
    wait_for(&source, "delivers again");
    let t1 = source.now_s();
    std::thread::sleep(Duration::from_millis(50));
    let (joules, seconds) = (source.energy_between(t1, t1 + 0.02), 0.02);
    assert!((joules.expect("known again") / (3.0 * seconds) - 1.0).abs() < 1e-6);
    assert_eq!(
        source.energy_between(t0, source.now_s()),
        None,
        "over a gap"
    );
}

#[test]
fn a_meter_that_does_not_answer_is_refused_with_the_reason() {
    let (mut master, _slave, silent) = terminal();
    let (mut chatty, _slave2, words) = terminal();
    let _meter = Playing::start(Duration::from_millis(20), move |_| {
        let _ = chatty.write_all(b"warming up\n");
    });
    let (mut turned, _slave3, backwards) = terminal();
    let _turned = Playing::start(Duration::from_millis(20), move |_| {
        let _ = turned.write_all(b"-7.5\n");
    });
    master.write_all(b"12.5\n12.5").unwrap();
    let file = std::env::temp_dir().join(format!("couloir-no-tty-{}", std::process::id()));
    std::fs::write(&file, "1\n").unwrap();
    for (address, why) in [
        (silent, "nothing arrives"),
        (words, "no number in column 1 of \"warming up\""),
        (
            backwards,
            "a power below 0 (exchange its leads) in column 1 of \"-7.5\"",
        ),
        ("serial:/dev/absent@9600".parse().unwrap(), "No such file"),
        (
            format!("serial:{}@9600", file.display()).parse().unwrap(),
            "it is no serial line",
        ),
        ("tcp:127.0.0.1:1".parse().unwrap(), "refused"),
    ] {
        let refused = energy::find(&context(address, Column::Number(1), "W"));
        let error = refused.err().expect("no meter there");
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        for part in ["--meter M", why, "check address, cable and supply"] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn addresses_are_checked() {
    let good: Address = "serial:/dev/ttyUSB0".parse().unwrap();
    assert_eq!(good.to_string(), "serial:/dev/ttyUSB0@115200");
    let good: Address = "tcp:[::1]:5025".parse().unwrap();
    assert_eq!(
        good,
        Address::Tcp {
            host: "::1".into(),
            port: 5025
        }
    );
    for (text, why) in [
        ("ttyUSB0", "is no address of a meter"),
        ("serial:@9600", "names no device"),
        (
            "serial:/dev/ttyUSB0@12345",
            "no speed of a serial line; give one of 4800",
        ),
        ("tcp:host", "names no host and port"),
        ("tcp::80", "names no host and port"),
        ("tcp:host:99999", "\"99999\" is no port"),
    ] {
        let error = text.parse::<Address>().unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}
