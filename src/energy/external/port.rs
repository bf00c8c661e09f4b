//! A serial line or a TCP connection.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{self, BaudRate, ControlFlags, SetArg};

/// Time to reach a host.
const CONNECT: Duration = Duration::from_secs(2);

/// Longest wait for bytes, so that the end of the run is not held up.
const POLL_MS: u16 = 100;

/// Speeds that serial lines have, in bits per second.
const BAUDS: [(u32, BaudRate); 8] = [
    (4800, BaudRate::B4800),
    (9600, BaudRate::B9600),
    (19_200, BaudRate::B19200),
    (38_400, BaudRate::B38400),
    (57_600, BaudRate::B57600),
    (115_200, BaudRate::B115200),
    (230_400, BaudRate::B230400),
    (460_800, BaudRate::B460800),
];

/// Where an external meter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `serial:DEVICE@BAUD`, 8 data bits, no parity; 115200 without a speed.
    Serial {
        /// Such as `/dev/ttyUSB0`.
        device: PathBuf,
        /// Bits per second.
        baud: u32,
    },
    /// `tcp:HOST:PORT`.
    Tcp {
        /// Name or address.
        host: String,
        /// Its port.
        port: u16,
    },
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "give serial:DEVICE@BAUD or tcp:HOST:PORT";
        match text.split_once(':') {
            Some(("serial", rest)) => {
                let (device, baud) = rest.split_once('@').unwrap_or((rest, "115200"));
                let known = BAUDS.iter().find(|(b, _)| b.to_string() == baud);
                let Some(&(baud, _)) = known else {
                    let all = BAUDS.map(|(b, _)| b.to_string()).join(", ");
                    return Err(format!(
                        "{baud:?} is no speed of a serial line; give one of {all}"
                    ));
                };
                if device.is_empty() {
                    return Err(format!("{text:?} names no device; {form}"));
                }
                let device = PathBuf::from(device);
                Ok(Self::Serial { device, baud })
            }
            Some(("tcp", rest)) => match rest.rsplit_once(':') {
                Some((host, port)) if !host.is_empty() => match port.parse() {
                    Ok(port) => Ok(Self::Tcp {
                        host: host.trim_matches(['[', ']']).to_string(),
                        port,
                    }),
                    Err(_) => Err(format!("{port:?} is no port; {form}")),
                },
                _ => Err(format!("{text:?} names no host and port; {form}")),
            },
            _ => Err(format!("{text:?} is no address of a meter; {form}")),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Serial { device, baud } => write!(f, "serial:{}@{baud}", device.display()),
            Self::Tcp { host, port } => write!(f, "tcp:{host}:{port}"),
        }
    }
}

/// An open connection.
pub(super) enum Port {
    Serial(File),
    Tcp(TcpStream),
}

impl Port {
    pub fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Serial { device, baud } => open_serial(device, *baud).map(Self::Serial),
            Address::Tcp { host, port } => {
                let mut why = io::Error::from(io::ErrorKind::NotFound);
                for to in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&to, CONNECT) {
                        Ok(stream) => return Ok(Self::Tcp(stream)),
                        Err(e) => why = e,
                    }
                }
                Err(why)
            }
        }
    }

    /// Waits a little for bytes; true if there are some, or if the connection has ended.
    pub fn ready(&self) -> io::Result<bool> {
        let fd: BorrowedFd = match self {
            Self::Serial(file) => file.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        };
        let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
        Ok(poll(&mut fds, PollTimeout::from(POLL_MS))? > 0)
    }
}

impl Read for Port {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Serial(file) => file.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}

/// Opens without waiting for a carrier, and switches off echo and all line editing.
fn open_serial(device: &PathBuf, baud: u32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(device)?;
    let mut settings = termios::tcgetattr(&file)
        .map_err(|why| io::Error::other(format!("it is no serial line ({why})")))?;
    termios::cfmakeraw(&mut settings);
    settings.control_flags |= ControlFlags::CLOCAL | ControlFlags::CREAD;
    let known = BAUDS.iter().find(|(b, _)| *b == baud);
    let speed = known.map_or(BaudRate::B115200, |(_, speed)| *speed);
    termios::cfsetspeed(&mut settings, speed)?;
    termios::tcsetattr(&file, SetArg::TCSANOW, &settings)?;
    Ok(file)
}
