//! "Hosts" for `cross/deploy`: ssh servers on this machine, each with a port and a home of its own.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::folder::{Folder, Said, said};

const SSHD: &str = "/usr/sbin/sshd";
/// Processes of one host, which end with it.
const PROCESSES: [&str; 4] = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/// MPICH: these hosts share a memory, but some not their processes, so it must not be used.
const NETWORK: &str = "SetEnv UCX_TLS=tcp,self";

/// Past the test harness, which would swallow it.
pub fn skip(why: &str) {
    let text = format!("SKIPPED: deploy: {why}\n");
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

pub fn done(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    quiet
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// A server that stands for a host: its own port, keys, home folder and view of the disk.
pub struct Host {
    name: &'static str,
    port: u16,
    server: Option<Child>,
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// What a host is like.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Good,
    /// No server.
    Down,
    /// Takes no key of ours.
    Refuses,
    /// 64 kB of disk.
    Full,
    /// Says that it is something else.
    Other,
    /// A name and a folder `ranks` of its own.
    Node,
    /// The same, with processes of its own: it can die with all of them.
    Board,
}

/// Keys, servers, a cluster file and what else a test wants to say to ssh.
pub struct Cluster {
    pub folder: Folder,
    hosts: Vec<Host>,
}

impl Cluster {
    /// None, said aloud, where this machine cannot do it.
    pub fn new(kinds: &[(&'static str, Kind)]) -> Option<Self> {
        if !Path::new(SSHD).exists() || !done(Command::new("rsync").arg("--version")) {
            skip("no sshd or no rsync: apt-get install openssh-server rsync");
            return None;
        }
        // Root's servers drop their rights in this folder; other users' need none.
        let _ = std::fs::create_dir_all("/run/sshd");
        let mut cluster = Self {
            folder: Folder::new(),
            hosts: Vec::new(),
        };
        let names = ["client", "stranger", "server"];
        for name in names {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(done(keygen.arg(cluster.folder.path(name))), "ssh-keygen");
        }
        let config = format!(
            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n\
             IdentitiesOnly yes\nIdentityFile {}\n",
            cluster.folder.path("client").display()
        );
        cluster.folder.write("ssh_config", &config);
        for &(name, kind) in kinds {
            let host = cluster.start(name, kind);
            cluster.hosts.push(host);
        }
        Some(cluster)
    }

    fn start(&self, name: &'static str, kind: Kind) -> Host {
        let port = free_port();
        let home = self.folder.path(name);
        std::fs::create_dir(&home).unwrap();
        if kind == Kind::Down {
            let server = None;
            return Host { name, port, server };
        }
        // No OpenCL, so that a check of the host has no kernels to compile.
        let mut shell = format!(
            "#!/bin/bash\nexport HOME={0} OCL_ICD_VENDORS=/nonexistent\ncd {0}\n",
            home.display()
        );
        if kind == Kind::Other {
            std::fs::create_dir(home.join("bin")).unwrap();
            self.script(&format!("{name}/bin/uname"), "#!/bin/sh\necho riscv64\n");
            shell += "PATH=$HOME/bin:$PATH\n";
        }
        shell += "exec bash -c \"$SSH_ORIGINAL_COMMAND\"\n";
        let shell = self.script(&format!("{name}/shell"), &shell);
        let key = match kind {
            Kind::Refuses => "stranger.pub",
            _ => "client.pub",
        };
        let path = |name: &str| self.folder.path(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             PermitRootLogin yes\nForceCommand {shell}\n{NETWORK}\n",
            path("server"),
            path(key),
        );
        let config = self.folder.write(&format!("{name}/sshd_config"), &config);
        // Such disks exist for this server only, and go away with it.
        let unshare = |folder: PathBuf, mount: &str| {
            let _ = std::fs::create_dir(&folder);
            let mut command = Command::new("unshare");
            if kind == Kind::Board {
                command.args(PROCESSES);
            }
            let script = format!("mount -t tmpfs {mount} tmpfs \"$0\" && exec \"$@\"");
            command.args(["--mount", "--uts", "sh", "-c", &script]);
            command.arg(folder);
            command
        };
        let mut command = match kind {
            Kind::Full => unshare(home.join("run"), "-o size=64k"),
            Kind::Node | Kind::Board => {
                let mut command = unshare(self.folder.path("ranks"), "");
                command.args(["sh", "-c", "hostname \"$0\" && exec \"$@\"", name]);
                command
            }
            _ => Command::new("env"),
        };
        command.arg(SSHD);
        command.args(["-D", "-q", "-f", &config]);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
        let server = quiet.stderr(Stdio::null()).spawn().expect("sshd starts");
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let patience = Duration::from_secs(20);
            assert!(started.elapsed() < patience, "{name} does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        let server = Some(server);
        Host { name, port, server }
    }

    fn script(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.write(name, text);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    pub fn file(&self, remote: &str) -> String {
        let results = self.folder.path("results").display().to_string();
        let mut text = format!("[paths]\nremote = '{remote}'\nresults = '{results}'\n");
        for host in &self.hosts {
            let (name, port) = (host.name, host.port);
            let board = format!("generic-{}", std::env::consts::ARCH);
            writeln!(
                text,
                "[[host]]\nname = '{name}'\naddress = '127.0.0.1'\nport = {port}\nboard = '{board}'"
            )
            .unwrap();
        }
        self.folder.write("cluster.toml", &text)
    }

    /// Two steps of a case.
    pub fn deploy(&self, cluster: &str, more: &[&str]) -> Said {
        self.deploy_with(cluster, more, &["--steps", "2"])
    }

    pub fn deploy_with(&self, cluster: &str, more: &[&str], flags: &[&str]) -> Said {
        said(
            self.command(cluster, more, flags)
                .env("COULOIR_HOST_SSH", self.host_ssh()),
        )
    }

    /// The same of hosts that cannot reach each other.
    pub fn deploy_apart(&self, cluster: &str, more: &[&str]) -> Said {
        let port = "-o Port=1";
        said(
            self.command(cluster, more, &["--steps", "2"])
                .env("COULOIR_HOST_SSH", port),
        )
    }

    /// `cross/deploy` of the case, not started.
    pub fn command(&self, cluster: &str, more: &[&str], flags: &[&str]) -> Command {
        let mut command = Command::new("cross/deploy");
        command
            .args([cluster, "cases/cube.toml", "--ssh-config"])
            .arg(self.folder.path("ssh_config"))
            .args(more)
            .args(["--", "--device", "none"])
            .args(flags)
            .env("COULOIR", env!("CARGO_BIN_EXE_couloir"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        command
    }

    /// Processes of a [`Kind::Board`].
    fn processes(&self, name: &str) -> Vec<String> {
        let host = self.hosts.iter().find(|h| h.name == name);
        let server = host.and_then(|h| h.server.as_ref()).expect("a server");
        let space = std::fs::read_link(format!("/proc/{}/ns/pid_for_children", server.id()));
        let Ok(space) = space else {
            return Vec::new();
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter(|p| std::fs::read_link(p.path().join("ns/pid")).is_ok_and(|s| s == space))
            .map(|p| p.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// `STOP` freezes the host, `KILL` ends it.
    pub fn signal(&self, name: &str, signal: &str) {
        let processes = self.processes(name);
        assert!(processes.len() > 2, "{name}: {processes:?}");
        // With the first of them the others are gone.
        done(Command::new("kill").args(["-s", signal]).args(processes));
    }

    /// Whether a case is computed there.
    pub fn computes(&self, name: &str) -> bool {
        self.processes(name).iter().any(|p| {
            std::fs::read_to_string(format!("/proc/{p}/comm")).is_ok_and(|c| c == "couloir\n")
        })
    }

    /// What hosts need to reach each other.
    fn host_ssh(&self) -> String {
        let key = self.folder.path("client");
        format!(
            "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i {}",
            key.display()
        )
    }
}

/// Hosts that work together, and their cluster file; none, said aloud, where that is not possible.
pub fn under_mpirun(kinds: &[(&'static str, Kind)]) -> Option<(Cluster, String)> {
    let mpirun = couloir::cluster::launcher::launcher();
    let Some(mpi) = mpi().filter(|_| done(Command::new(mpirun).arg("--version"))) else {
        skip("this build has neither Open MPI nor MPICH, or there is no mpirun");
        return None;
    };
    if !can_unshare(kinds) {
        return None;
    }
    let cluster = Cluster::new(kinds)?;
    let ranks = cluster.folder.path("ranks").display().to_string();
    let file = cluster.file(&ranks);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("mpi = '{mpi}'\n{text}")).unwrap();
    Some((cluster, file))
}

/// The MPI of this build, as a cluster file calls it.
pub fn mpi() -> Option<&'static str> {
    match couloir::cluster::mpi_library()? {
        library if library.contains("Open MPI") => Some("openmpi"),
        library if library.contains("MPICH") => Some("mpich"),
        _ => None,
    }
}

pub fn can_unshare(kinds: &[(&'static str, Kind)]) -> bool {
    let mut command = Command::new("unshare");
    if kinds.iter().any(|&(_, kind)| kind == Kind::Board) {
        command.args(PROCESSES);
    }
    let can = done(command.args(["--mount", "--uts", "true"]));
    if !can {
        skip("no hosts with folders of their own can be made without being root");
    }
    can
}

/// A port that nobody listens at, below those that the system hands out: one that another test
/// gave back would be given to a server of this one.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 500) as u16 * 20;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
