//! Sizes of the cores' caches.

use super::CPU;
use crate::node::Tree;

/// The last cache where the system does not tell.
const LAST_BYTES: usize = 8 << 20;

/// No last cache is taken to be larger (where one told 480 MiB, with stores past the caches, `couloir bench
/// spmv --matrix grid:N --where cpu --device none --threads 1`: N = 110 3.73 -> 3.41 ms, 160 21.6 -> 19.9).
const MOST_BYTES: usize = 96 << 20;
/// The same of a virtual machine, which tells the cache of its host: most of it is its neighbours'.
/// Where one told 480 MiB (Xeon by AVX-512, medians of three runs in turns), `couloir bench spmv --matrix
/// grid:100 --where cpu --device none --threads T --flush`, of 65 MB, takes 4.90 -> 4.33 ms by one
/// thread, 2.09 -> 1.90 by two; without `--flush` 2.47, 2.46; `gspmv --matrix grid:80` and `axpy --rows
/// 3000000` are as before. `--matrix tet:1600000 --order rcm`, one thread, two runs, 6.37 -> 5.89 ms with
/// `--flush`, 3.70 -> 3.49 without.
const GUEST_MOST_BYTES: usize = 48 << 20;

/// Sizes of the first core's caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// The second level; 0 where the system does not tell.
    pub second_bytes: usize,
    /// The largest one, at most 96 MiB, or 48 in a virtual machine.
    pub last_bytes: usize,
    /// What is asked for as read once stays out of the outer caches and comes as soon. So it does on a
    /// Zen 5; a Xeon (Emerald Rapids) reads at half the speed then (`couloir bench spmv --matrix grid:160
    /// --where cpu --device none --threads 1 --flush`, all values so: 25.9 -> 48.0 ms; Zen 5 7.65, 7.74).
    /// Not measured on others.
    pub bypassed: bool,
    /// A long stream comes sooner through the second level than straight to the first, by AVX-512: on a
    /// Zen 4, see `kernel/far.rs`. A Xeon (Emerald Rapids) gains nothing and grids lose there (`couloir
    /// bench K --matrix grid:100 --where cpu --device none --threads 1`, medians in turns, beside neighbours
    /// at work: `spmv` 2.92 -> 3.58 ms, `gspmv` 5.71 -> 7.52), nor does a Zen 5 (`spmv` there 1.81 -> 2.13,
    /// `nodes:1000000 --order rcm` alike). Not measured on others.
    pub staged: bool,
    /// Several vectors that are read at once come sooner where they are asked for ahead: on a Xeon, whose
    /// figures are in `kernel/pcg_step.rs`, and another (Emerald Rapids, beside neighbours at work, two runs;
    /// with the edges that `kernel/steps.rs` asks for, `couloir bench pcg --matrix grid:160 --where cpu --device
    /// none --threads 2` 11.1 and 9.4 -> 7.2 and 7.9 ms, by eight threads 3.0 and 2.2 -> 3.1 and 2.2). Not
    /// measured on others.
    pub streams_asked: bool,
}

/// The processors' maker and family that [`Caches::bypassed`] is known of.
const BYPASSED: [&str; 2] = ["AuthenticAMD", "26"];
/// The same of [`Caches::staged`].
const STAGED: [&str; 2] = ["AuthenticAMD", "25"];
/// The same of [`Caches::streams_asked`].
const STREAMS_ASKED: [&str; 2] = ["GenuineIntel", "6"];

impl Caches {
    /// Vectors of more bytes are asked for ahead where columns lead to them in no order: what the second
    /// level holds need not be. Where a matrix can be kept out of the outer caches, nor need what a
    /// quarter of the last one holds: with 32 MiB, 5.6 MB a vector lose by it and 12.8 MB gain (one Zen 5,
    /// the figures and their command are in `kernel/once.rs`).
    pub fn prefetch_above_bytes(&self) -> usize {
        if self.bypassed {
            self.second_bytes.max(self.last_bytes / 4)
        } else {
            self.second_bytes
        }
    }

    /// As `tree` tells.
    pub fn of(tree: &Tree) -> Self {
        let (mut second, mut last) = (0, None);
        for k in 0.. {
            let folder = format!("{CPU}/cpu0/cache/index{k}");
            let Ok(size) = tree.text(&format!("{folder}/size")) else {
                break;
            };
            let Some(bytes) = bytes(&size) else { continue };
            if tree.integer(&format!("{folder}/level")).ok() == Some(2) {
                second = bytes;
            }
            last = last.max(Some(bytes));
        }
        let text = tree.text("proc/cpuinfo").unwrap_or_default();
        let kind = kind(&text);
        let most = if is_guest(&text) {
            GUEST_MOST_BYTES
        } else {
            MOST_BYTES
        };
        Self {
            second_bytes: second,
            last_bytes: last.unwrap_or(LAST_BYTES).min(most),
            bypassed: kind == BYPASSED,
            staged: kind == STAGED,
            streams_asked: kind == STREAMS_ASKED,
        }
    }
}

/// Maker and family of the first processor of `cpuinfo`; empty where they are not told.
fn kind(cpuinfo: &str) -> [&str; 2] {
    ["vendor_id", "cpu family"].map(|name| {
        let mut fields = cpuinfo.lines().filter_map(|l| l.split_once(':'));
        let field = fields.find_map(|(n, v)| (n.trim() == name).then_some(v.trim()));
        field.unwrap_or_default()
    })
}

/// Whether a hypervisor is among the features of the first processor of `cpuinfo`, as on x86-64.
fn is_guest(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags"));
    flags.is_some_and(|l| l.split_whitespace().any(|f| f == "hypervisor"))
}

/// Of a size such as `2048K`.
fn bytes(size: &str) -> Option<usize> {
    let kib: usize = size.trim().strip_suffix('K')?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose first core has caches of these levels and sizes, and such features.
    fn machine(caches: &'static [(&str, &str)], flags: &'static str) -> Caches {
        Caches::of(&Tree::with_reader("/", move |path| {
            let path = path.to_string_lossy();
            if path.ends_with("proc/cpuinfo") {
                return Ok(format!("flags\t\t: {flags}\n"));
            }
            let (_, rest) = path.split_once("/cpu0/cache/index").unwrap_or_default();
            let (index, file) = rest.split_once('/').unwrap_or_default();
            let cache = index.parse().ok().and_then(|k: usize| caches.get(k));
            match (cache, file) {
                (Some((level, _)), "level") => Ok((*level).to_owned()),
                (Some((_, size)), "size") => Ok((*size).to_owned()),
                _ => Err(std::io::ErrorKind::NotFound.into()),
            }
        }))
    }

    #[test]
    fn sizes_are_read_and_a_host_s_whole_cache_is_not_believed() {
        let large = &[("2", "2048K\n"), ("3", "491520K\n")];
        let guest = machine(large, "fpu hypervisor lahf_lm");
        assert_eq!(guest.last_bytes, GUEST_MOST_BYTES);
        for (caches, second_bytes, last_bytes) in [
            (&[][..], 0, LAST_BYTES),
            (&[("1", "32K\n"), ("1", "")], 0, 32 << 10),
            (&[("1", "32K\n"), ("2", "512K\n")], 512 << 10, 512 << 10),
            (&[("2", "1024K\n"), ("3", "32768K\n")], 1 << 20, 32 << 20),
            (large, 2 << 20, MOST_BYTES),
        ] {
            let want = Caches {
                second_bytes,
                last_bytes,
                ..Caches::default()
            };
            assert_eq!(machine(caches, "fpu vme"), want, "{caches:?}");
        }
    }

    #[test]
    fn what_caches_do_is_told_of_the_processors_known_to() {
        let cpu = |vendor: &str, family: &str| {
            format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\n\nprocessor\t: 1\n"
            )
        };
        let caches = |text: String| {
            Caches::of(&Tree::with_reader("/", move |path| {
                match path.ends_with("proc/cpuinfo") {
                    true => Ok(text.clone()),
                    false => Err(std::io::ErrorKind::NotFound.into()),
                }
            }))
        };
        for (text, bypassed, staged, streams_asked) in [
            (cpu("AuthenticAMD", "26"), true, false, false),
            (cpu("AuthenticAMD", "25"), false, true, false),
            (cpu("AuthenticAMD", "24"), false, false, false),
            (cpu("GenuineIntel", "6"), false, false, true),
            (cpu("GenuineIntel", "26"), false, false, false),
            ("CPU part\t: 0xd0b\n".into(), false, false, false),
        ] {
            let c = caches(text.clone());
            let got = (c.bypassed, c.staged, c.streams_asked);
            assert_eq!(got, (bypassed, staged, streams_asked), "{text}");
        }
    }
}
