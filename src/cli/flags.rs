//! Every flag, once.

/// A flag `--name`, with a value or without.
pub(super) struct Flag {
    /// Its name, without the dashes.
    pub name: &'static str,
    /// What its value is called in help; none for a switch. Where `-`, standard output, is one of
    /// its values, it may be left out.
    pub value: Option<&'static str>,
    /// One line of help.
    pub about: &'static str,
    /// The key of the case that it sets.
    pub sets: Sets,
}

/// What a flag does to the case.
#[derive(PartialEq)]
pub(super) enum Sets {
    /// Nothing.
    Nothing,
    /// Its value is `KEY=VALUE`.
    Any,
    /// Sets this key, to a number or a word.
    Key(&'static str),
    /// Sets this key, to text as it stands.
    Text(&'static str),
}

pub(super) const SET: Flag = Flag {
    name: "set",
    value: Some("KEY=VALUE"),
    about: "Override a key of the case, such as fluid.viscosity=1e-3; may be repeated",
    sets: Sets::Any,
};

pub(super) const STEPS: Flag = Flag {
    name: "steps",
    value: Some("N"),
    about: "End after N time steps",
    sets: Sets::Key("time.steps"),
};

pub(super) const SPLIT: Flag = Flag {
    name: "split",
    value: Some("auto|R"),
    about: "The device's share of each kernel's rows: found while running, or 0 to 1",
    sets: Sets::Key("node.split"),
};

pub(super) const DEVICE: Flag = Flag {
    name: "device",
    value: Some("auto|none|INDEX"),
    about: "OpenCL device to use: see `couloir devices`",
    sets: Sets::Key("node.device"),
};

pub(super) const MEMORY: Flag = Flag {
    name: "memory",
    value: Some("auto|zero-copy|svm|discrete|host"),
    about: "How buffers are shared with the device",
    sets: Sets::Key("node.memory"),
};

pub(super) const THREADS: Flag = Flag {
    name: "threads",
    value: Some("auto|N"),
    about: "Number of CPU threads",
    sets: Sets::Key("node.threads"),
};

pub(super) const BOARD: Flag = Flag {
    name: "board",
    value: Some("auto|NAME|FILE"),
    about: "What is known of this node: recognised, a board by name, or a board file",
    sets: Sets::Text("node.board"),
};

pub(super) const PRECISION: Flag = Flag {
    name: "precision",
    value: Some("auto|fp64|mixed|fp32"),
    about: "What is computed with: mixed solves for the pressure in fp32, to the same tolerance",
    sets: Sets::Key("node.precision"),
};

pub(super) const OBJECTIVE: Flag = Flag {
    name: "objective",
    value: Some("time|energy|edp"),
    about: "What the splits minimise: seconds, joules or their product; joules need a meter",
    sets: Sets::Key("node.objective"),
};

pub(super) const METER: Flag = Flag {
    name: "meter",
    value: Some("serial:DEVICE@BAUD|tcp:HOST:PORT"),
    about: "Measure energy by a meter that sends lines of numbers: see [energy] in the README",
    sets: Sets::Text("energy.meter"),
};

pub(super) const METER_COLUMN: Flag = Flag {
    name: "meter-column",
    value: Some("N|NAME"),
    about: "The column of its lines that counts, 1 by default, or its name in a header line",
    sets: Sets::Key("energy.column"),
};

pub(super) const METER_UNIT: Flag = Flag {
    name: "meter-unit",
    value: Some("UNIT"),
    about: "The unit of that number: W by default, mW, uW, J, mJ, uJ, Wh, mWh or kWh",
    sets: Sets::Text("energy.unit"),
};

pub(super) const IDLE_SECONDS: Flag = Flag {
    name: "idle-seconds",
    value: Some("S"),
    about: "Measure the idle node's power for S seconds first, and show net figures",
    sets: Sets::Key("energy.idle_seconds"),
};

pub(super) const OVERLAP: Flag = Flag {
    name: "overlap",
    value: Some("on|off"),
    about: "Exchange halos while inner rows are computed, or before",
    sets: Sets::Key("cluster.overlap"),
};

pub(super) const OUT: Flag = Flag {
    name: "out",
    value: Some("DIR"),
    about: "Folder for results (default: the case's, or out/CASE)",
    sets: Sets::Text("output.directory"),
};

pub(super) const JSON: Flag = Flag {
    name: "json",
    value: Some("FILE"),
    about: "Write the report as JSON",
    sets: Sets::Nothing,
};

pub(super) const SVG: Flag = Flag {
    name: "svg",
    value: Some("FILE"),
    about: "Draw the result as SVG",
    sets: Sets::Nothing,
};

/// Of commands whose report is short enough for a pipe.
pub(super) const JSON_OR_STDOUT: Flag = Flag {
    name: "json",
    value: Some("FILE|-"),
    about: "Write the report as JSON to a file, or (-) print it and nothing else",
    sets: Sets::Nothing,
};

pub(super) const QUIET: Flag = Flag {
    name: "quiet",
    value: None,
    about: "No lines per step and no notes: warnings and the closing report only",
    sets: Sets::Nothing,
};

pub(super) const ROWS: Flag = Flag {
    name: "rows",
    value: Some("N"),
    about: "Work on the 7-point Laplacian on the cube nearest to N points (default 1000000)",
    sets: Sets::Nothing,
};

pub(super) const MESH: Flag = Flag {
    name: "mesh",
    value: Some("FILE.msh"),
    about: "Work on the Laplacian of the cells of a mesh",
    sets: Sets::Nothing,
};

pub(super) const MATRIX: Flag = Flag {
    name: "matrix",
    value: Some("FILE.mtx|grid:K|tet:N|nodes:N"),
    about: "Work on a Matrix Market file, a grid of K^3 points, N tetrahedra, or N nodes",
    sets: Sets::Nothing,
};

pub(super) const ORDER: Flag = Flag {
    name: "order",
    value: Some("rcm|random|none"),
    about: "Reorder the matrix, and show what that gains",
    sets: Sets::Nothing,
};

pub(super) const WHERE: Flag = Flag {
    name: "where",
    value: Some("cpu|device|split|all"),
    about: "Where to run (default all); cpu alone has all cores",
    sets: Sets::Nothing,
};

pub(super) const FORMAT: Flag = Flag {
    name: "format",
    value: Some("sell|csr"),
    about: "How the matrix of spmv is stored; csr is not split",
    sets: Sets::Nothing,
};

pub(super) const FLUSH: Flag = Flag {
    name: "flush",
    value: None,
    about: "Sweep 320 MiB through the caches before each call, the roofs' too",
    sets: Sets::Nothing,
};

pub(super) const ENERGY: Flag = Flag {
    name: "energy",
    value: None,
    about: "Repeat each kernel until its energy is known to 2 %, for a minute at most",
    sets: Sets::Nothing,
};

pub(super) const EXHAUSTIVE: Flag = Flag {
    name: "exhaustive",
    value: None,
    about: "Hold the cuts found for the split against a scan of all cuts",
    sets: Sets::Nothing,
};

pub(super) const WRITE_MATRIX: Flag = Flag {
    name: "write-matrix",
    value: Some("FILE"),
    about: "Write the matrix, too: NAME.mtx as Matrix Market, other names in binary",
    sets: Sets::Nothing,
};

pub(super) const CASE: Flag = Flag {
    name: "case",
    value: Some("CASE.toml"),
    about: "Read this case, too, and name its mesh",
    sets: Sets::Nothing,
};

pub(super) const LINES: Flag = Flag {
    name: "lines",
    value: None,
    about: "For scripts: a line per fact, words separated by tabs",
    sets: Sets::Nothing,
};

pub(super) const RANKS: Flag = Flag {
    name: "ranks",
    value: Some("N,N,.."),
    about: "Numbers of ranks to measure with (default: 1,2)",
    sets: Sets::Nothing,
};

pub(super) const ITERATIONS: Flag = Flag {
    name: "iterations",
    value: Some("N"),
    about: "Pressure iterations of each step, whatever its residual (default: 50 for ROWS, whose boxes \
            would take more the more ranks there are; to the tolerance for CASE.toml)",
    sets: Sets::Nothing,
};

pub(super) const SERIES: Flag = Flag {
    name: "series",
    value: Some("KIND"),
    about: "Of ROWS, weak or strong scaling alone (default: both)",
    sets: Sets::Nothing,
};

pub(super) const APART: Flag = Flag {
    name: "apart",
    value: None,
    about: "Of weak scaling, measure as many processes that have nothing to do with each other, too",
    sets: Sets::Nothing,
};

pub(super) const LAUNCHER: Flag = Flag {
    name: "launcher",
    value: Some("COMMAND"),
    about: "What starts the ranks, with its flags (default: mpirun of the MPI that this was built with)",
    sets: Sets::Nothing,
};

pub(super) const NODES: Flag = Flag {
    name: "nodes",
    value: Some("N|N,N,.."),
    about: "Numbers of nodes; one stands for the powers of two up to it, too (default: 64)",
    sets: Sets::Nothing,
};

pub(super) const NETWORK: Flag = Flag {
    name: "network",
    value: Some("gige|ib-qdr|this|FILE,.."),
    about: "Known networks, this (between mpirun's ranks), or a cluster file's; scale slows messages to it",
    sets: Sets::Nothing,
};

pub(super) const WORKER: Flag = Flag {
    name: "worker",
    value: Some("FILE"),
    about: "For the ranks that this command starts: where the first writes its result",
    sets: Sets::Nothing,
};
