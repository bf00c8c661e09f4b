//! `cross/deploy` against ssh servers on this machine: hosts that work, one that refuses, one
//! without disk space, one of another architecture.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use crate::folder::{Folder, Said, is_file, said};

const SSHD: &str = "/usr/sbin/sshd";

/// Past the test harness, which would swallow it.
fn skip(why: &str) {
    let text = format!("SKIPPED: deploy: {why}\n");
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

fn done(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
    quiet
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// A server that stands for a host: its own port, keys, home folder and view of the disk.
struct Host {
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
enum Kind {
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
}

/// Keys, servers, a cluster file and what else a test wants to say to ssh.
struct Cluster {
    folder: Folder,
    hosts: Vec<Host>,
}

impl Cluster {
    /// None, said aloud, where this machine cannot do it.
    fn new(kinds: &[(&'static str, Kind)]) -> Option<Self> {
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
             PermitRootLogin yes\nForceCommand {shell}\n",
            path("server"),
            path(key),
        );
        let config = self.folder.write(&format!("{name}/sshd_config"), &config);
        // Such disks exist for this server only, and go away with it.
        let unshare = |folder: PathBuf, mount: &str| {
            let _ = std::fs::create_dir(&folder);
            let mut command = Command::new("unshare");
            let script = format!("mount -t tmpfs {mount} tmpfs \"$0\" && exec \"$@\"");
            command.args(["--mount", "--uts", "sh", "-c", &script]);
            command.arg(folder);
            command
        };
        let mut command = match kind {
            Kind::Full => unshare(home.join("run"), "-o size=64k"),
            Kind::Node => {
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

    fn file(&self, remote: &str) -> String {
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

    fn deploy(&self, cluster: &str, more: &[&str]) -> Said {
        let mut command = Command::new("cross/deploy");
        command
            .args([cluster, "cases/cube.toml", "--ssh-config"])
            .arg(self.folder.path("ssh_config"))
            .args(more)
            .args(["--", "--device", "none", "--steps", "2"])
            .env("COULOIR", env!("CARGO_BIN_EXE_couloir"))
            .env("COULOIR_HOST_SSH", self.host_ssh())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        said(&mut command)
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

#[test]
fn every_host_brings_its_results_back() {
    let Some(cluster) = Cluster::new(&[("a", Kind::Good), ("b", Kind::Good)]) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let mut energies = Vec::new();
    for host in ["a", "b"] {
        let line = format!("[{host}] step 2 ");
        assert!(said.out.contains(&line), "{}", said.out);
        assert!(said.out.contains(&format!("\n{host}  ok ")), "{}", said.out);
        let result = format!("results/cube/{host}");
        let report = cluster.folder.json(&format!("{result}/report.json"));
        assert_eq!(report["steps"], 2);
        energies.push(report["kinetic_energy"].to_string());
        for name in ["log.txt", "cube.pvd", "u_vertical.csv", "check.txt"] {
            let file = format!("{result}/{name}");
            assert!(is_file(&cluster.folder.path(&file)), "{file}");
        }
        // In the host's own home, and nowhere else.
        assert!(is_file(
            &cluster.folder.path(&format!("{host}/run/couloir"))
        ));
    }
    assert_eq!(energies[0], energies[1]);
}

#[test]
fn hosts_work_on_one_case_under_mpirun() {
    let library = couloir::cluster::mpi_library().unwrap_or_default();
    if !library.contains("Open MPI") || !done(Command::new("mpirun").arg("--version")) {
        return skip("this build has no Open MPI, or there is no mpirun");
    }
    if !done(Command::new("unshare").args(["--mount", "--uts", "true"])) {
        return skip("no hosts with folders of their own can be made without being root");
    }
    let Some(cluster) = Cluster::new(&[("alpha", Kind::Node), ("beta", Kind::Node)]) else {
        return;
    };
    let ranks = cluster.folder.path("ranks").display().to_string();
    let file = cluster.file(&ranks);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("mpi = 'openmpi'\n{text}")).unwrap();
    let said = cluster.deploy(&file, &["--dry-run"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for part in ["--hostfile", "-np", "plm_rsh_agent"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }

    let said = cluster.deploy(&file, &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("[alpha] step 2 "), "{}", said.out);
    assert!(said.out.contains("\nbeta  ok"), "{}", said.out);
    let report = cluster.folder.json("results/cube/alpha/report.json");
    assert_eq!((&report["ranks"], &report["steps"]), (&2.into(), &2.into()));
    // The parts of both hosts are in one folder.
    for name in ["cube_000002_0000.vtu", "cube_000002_0001.vtu", "log.txt"] {
        let file = format!("results/cube/alpha/{name}");
        assert!(is_file(&cluster.folder.path(&file)), "{file}");
    }
    let own = cluster.folder.list("ranks");
    assert!(own.is_empty(), "not in the hosts' own folders: {own:?}");
}

/// Of hosts that were to work together, one that cannot is named, and nothing is run without it.
#[test]
fn a_run_under_mpirun_takes_every_host_or_none() {
    let kinds = [
        ("alpha", Kind::Good),
        ("refuses", Kind::Refuses),
        ("other", Kind::Other),
    ];
    let Some(cluster) = Cluster::new(&kinds) else {
        return;
    };
    let file = cluster.file("run");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("mpi = 'openmpi'\n{text}")).unwrap();
    let said = cluster.deploy(&file, &[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.err.contains("nothing was run"), "{}", said.err);
    for part in [
        "\nrefuses  FAILED  cannot be reached",
        "Permission denied",
        "\nother  FAILED  is riscv64, not the",
    ] {
        let out = format!("\n{}", said.out);
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!cluster.folder.path("alpha/run/out").exists());
}

#[test]
fn a_host_that_fails_is_named_with_the_reason() {
    let mut kinds = vec![
        ("good", Kind::Good),
        ("down", Kind::Down),
        ("refuses", Kind::Refuses),
        ("other", Kind::Other),
    ];
    if done(Command::new("unshare").args(["--mount", "true"])) {
        kinds.push(("full", Kind::Full));
    } else {
        skip("no small disk can be made without being root");
    }
    let Some(cluster) = Cluster::new(&kinds) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    let last: Vec<&str> = said.out.lines().rev().take(kinds.len()).collect();
    for (name, _) in kinds {
        let line = last.iter().find(|l| l.starts_with(&format!("{name}  ")));
        let line = line.unwrap_or_else(|| panic!("{name}: {}", said.out));
        let reason = match name {
            "good" => "ok",
            "down" => "FAILED  cannot be reached: ssh: connect to host 127.0.0.1",
            "refuses" => "Permission denied",
            "other" => "is riscv64, not the",
            _ => "no disk space: 64 kB are free in run",
        };
        assert!(line.contains(reason), "{line}\n{}", said.err);
    }
    assert!(is_file(
        &cluster.folder.path("results/cube/good/report.json")
    ));
}

#[test]
fn a_dry_run_prints_commands_and_touches_nothing() {
    let Some(cluster) = Cluster::new(&[("a", Kind::Down)]) else {
        return;
    };
    let said = cluster.deploy(&cluster.file("run"), &["--dry-run"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    for part in [
        "ssh -F",
        "rsync -az",
        "127.0.0.1:run/couloir",
        "mesh.file=mesh.msh",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(!cluster.folder.path("results").exists());
}

#[test]
fn a_wrong_cluster_file_ends_it() {
    let folder = Folder::new();
    let host = "[[host]]\nname = 'a'\nboard = 'no-such-board'\n";
    for (text, part) in [
        ("mpi = 'none'", "there is no host; add a [[host]]"),
        (host, "there is no board/no-such-board.toml"),
    ] {
        let file = folder.write("cluster.toml", text);
        let mut command = Command::new("cross/deploy");
        command
            .args([&file, "cases/cube.toml", "--dry-run"])
            .env("COULOIR", env!("CARGO_BIN_EXE_couloir"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        let said = said(&mut command);
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(part), "{}", said.err);
    }
}
