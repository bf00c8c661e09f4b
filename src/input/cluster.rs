//! `cluster.toml`: hosts and the network between them.

use std::path::Path;

use serde::Deserialize;

use super::{Decoded, decode, shown, text};
use crate::Result;

/// A cluster that passed all checks which need no host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// `mpi`: how the hosts work on a case.
    #[serde(default)]
    pub mpi: Mpi,
    /// `[network]`; without it nothing is predicted.
    pub network: Option<Network>,
    /// `[paths]`.
    #[serde(default)]
    pub paths: Paths,
    /// `[[host]]`, in the order of the ranks.
    #[serde(default, rename = "host")]
    pub hosts: Vec<Host>,
}

/// What starts the processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mpi {
    /// Each host runs the case alone.
    #[default]
    None,
    /// Open MPI.
    Openmpi,
    /// MPICH.
    Mpich,
}

impl Mpi {
    /// As the file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Openmpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }
}

/// `[network]`: a message of b bytes takes latency + b / bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// `latency_s`: of a message between two hosts, one way, in seconds.
    pub latency_s: f64,
    /// `bandwidth_bytes_s`: of one link, in bytes per second.
    pub bandwidth_bytes_s: f64,
}

/// `[paths]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    /// `remote`: folder of the run on each host; relative to the user's home.
    pub remote: String,
    /// `results`: folder on this machine that results are brought to.
    pub results: String,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            remote: "couloir-run".to_owned(),
            results: "out/cluster".to_owned(),
        }
    }
}

/// `[[host]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// `name`: for messages and the results' folder.
    pub name: String,
    /// `address`: what ssh connects to; none for the name.
    pub address: Option<String>,
    /// `port` of its ssh server.
    #[serde(default = "ssh")]
    pub port: usize,
    /// `user` there; none for ssh's own choice.
    pub user: Option<String>,
    /// `board`: stem of its file in `board/`.
    pub board: String,
    /// `slots`: MPI processes.
    #[serde(default = "one")]
    pub slots: usize,
}

fn ssh() -> usize {
    22
}

fn one() -> usize {
    1
}

impl Host {
    /// What ssh connects to.
    pub fn address(&self) -> &str {
        self.address.as_deref().unwrap_or(&self.name)
    }
}

impl Cluster {
    /// Reads and checks a cluster file.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file, line and key.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&text(path, "cluster", "board/cluster.toml")?, path)
    }

    /// As [`Cluster::read`], of `text`; `path` serves messages.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with file, line and key.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let decoded: Decoded<Self> = decode(text, path)?;
        decoded.value.check(&decoded)?;
        Ok(decoded.value)
    }

    fn check(&self, at: &Decoded<Self>) -> Result<()> {
        if self.hosts.is_empty() {
            return Err(at.wrong("host", "there is no host", "add a [[host]] section"));
        }
        for (i, host) in self.hosts.iter().enumerate() {
            let key = |name: &str| format!("host[{i}].{name}");
            for (name, word) in [
                ("name", Some(host.name.as_str())),
                ("board", Some(&host.board)),
                ("address", host.address.as_deref()),
                ("user", host.user.as_deref()),
            ] {
                word.map_or(Ok(()), |word| plain(at, &key(name), word, ".-_:"))?;
            }
            if self.hosts[..i].iter().any(|other| other.name == host.name) {
                let what = format!("there are two hosts {}", host.name);
                return Err(at.wrong(&key("name"), what, "give each a name of its own"));
            }
            if !(1..=65535).contains(&host.port) {
                let remedy = "give the port of its ssh server, 1 to 65535";
                return Err(at.wrong(&key("port"), format!("{} is no port", host.port), remedy));
            }
            if !(1..=4096).contains(&host.slots) {
                let what = format!("{} processes cannot be started", host.slots);
                return Err(at.wrong(&key("slots"), what, "give 1 to 4096"));
            }
        }
        let remote = &self.paths.remote;
        plain(at, "paths.remote", remote, ".-_/+")?;
        if !remote.contains(|c: char| c.is_ascii_alphanumeric()) {
            // What is called `out` in it goes with every run.
            let remedy = "name a folder of its own, such as couloir-run";
            return Err(at.wrong(
                "paths.remote",
                format!("\"{remote}\" holds other things"),
                remedy,
            ));
        }
        if self.paths.results.trim().is_empty() || self.paths.results.contains(['\n', '\t']) {
            return Err(at.wrong("paths.results", "this is no folder", "name one"));
        }
        let network = self.network.iter().flat_map(|n| {
            [
                ("network.latency_s", n.latency_s),
                ("network.bandwidth_bytes_s", n.bandwidth_bytes_s),
            ]
        });
        for (key, value) in network {
            if !(value.is_finite() && value > 0.0) {
                let what = format!("{} is not above 0", shown(value));
                return Err(at.wrong(key, what, "give what was measured"));
            }
        }
        Ok(())
    }
}

/// Words that go into shell commands on other hosts: letters, digits and `signs`.
fn plain(at: &Decoded<Cluster>, key: &str, word: &str, signs: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(fits) {
        return Ok(());
    }
    let list: Vec<String> = signs.chars().map(String::from).collect();
    let remedy = format!(
        "use letters, digits and {}, not starting with -",
        list.join(" ")
    );
    Err(at.wrong(key, format!("\"{word}\" cannot be used"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Cluster> {
        Cluster::parse(text, Path::new("c.toml"))
    }

    const TWO: &str = "
        mpi = 'mpich'
        [[host]]
        name = 'a'
        board = 'rk3588'
        [[host]]
        name = 'b'
        address = '10.0.0.2'
        user = 'pi'
        port = 2222
        slots = 2
        board = 'raspberry-pi-5'
    ";

    #[test]
    fn defaults_are_filled_in() {
        let cluster = parse(TWO).unwrap();
        assert_eq!(cluster.mpi, Mpi::Mpich);
        assert_eq!((cluster.network, cluster.paths), (None, Paths::default()));
        let [a, b] = &cluster.hosts[..] else {
            panic!("two hosts")
        };
        assert_eq!((a.address(), a.port, a.slots), ("a", 22, 1));
        assert_eq!((b.address(), b.port, b.slots), ("10.0.0.2", 2222, 2));
    }

    #[test]
    fn the_example_is_a_cluster() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("board/cluster.toml");
        let cluster = Cluster::read(&file).unwrap();
        assert!(cluster.network.is_some() && cluster.hosts.len() == 2);
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_key() {
        let host = "[[host]]\nname = 'a'\nboard = 'x'\n";
        for (text, place, what) in [
            ("", "c.toml", "there is no host; add a [[host]] section"),
            ("host = []", "c.toml:1: host", "there is no host"),
            ("mpi = 'lam'", "c.toml:1: mpi", "unknown name \"lam\""),
            ("[[host]]\nname = 'a'", "c.toml", "board is missing"),
            (
                "[[host]]\nname = 'a'\nbord = 'x'",
                "c.toml:3",
                "did you mean board?",
            ),
            (
                &format!("{host}{host}"),
                "c.toml:5: host[1].name",
                "two hosts a",
            ),
            (
                &format!("{host}port = 0"),
                "c.toml:4: host[0].port",
                "0 is no port",
            ),
            (
                &format!("{host}slots = 0"),
                "c.toml:4: host[0].slots",
                "1 to 4096",
            ),
            (
                &format!("{host}user = 'a b'"),
                "c.toml:4: host[0].user",
                "letters, digits",
            ),
            (
                &format!("{host}address = '-oX'"),
                "c.toml:4: host[0].address",
                "starting with -",
            ),
            (
                &format!("{host}[paths]\nremote = './..'"),
                "c.toml:5: paths.remote",
                "a folder of its own",
            ),
            (
                &format!("{host}[paths]\nremote = '$HOME'"),
                "c.toml:5: paths.remote",
                "letters",
            ),
            (
                &format!("{host}[paths]\nresults = ''"),
                "c.toml:5: paths.results",
                "no folder",
            ),
            (
                &format!("{host}[network]\nlatency_s = 0\nbandwidth_bytes_s = 1e8"),
                "c.toml:5: network.latency_s",
                "0 is not above 0",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            let error = error.to_string();
            assert!(error.starts_with(place) && error.contains(what), "{error}");
        }
    }
}
