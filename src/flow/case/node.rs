//! `[node]` of a case.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::board::AUTO;
use crate::node::{Config, DeviceChoice, MemoryKind, NO_THREADS, THREADS};
use crate::split::Precision;

/// `[node]`: how the node's processors are used.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Node {
    /// `split`: `"auto"` (the tabu search), or the device's share of the rows, 0 to 1.
    pub split: Split,
    /// `device`: `"auto"`, `"none"`, or a number from `couloir devices`.
    #[serde(deserialize_with = "device")]
    pub device: DeviceChoice,
    /// `memory`: how buffers are shared with the device; `"auto"` is the best it offers.
    #[serde(deserialize_with = "memory")]
    pub memory: Option<MemoryKind>,
    /// `threads`: number of CPU threads; `"auto"` is one per core that the device leaves free.
    #[serde(deserialize_with = "threads")]
    pub threads: Option<usize>,
    /// `objective`: what the splits minimise, `"time"`, `"energy"` or `"edp"`, their product.
    pub objective: Minimise,
    /// `board`: `"auto"` (recognised), the name of a board, or a board file.
    #[serde(deserialize_with = "board")]
    pub board: String,
    /// `precision`: `"fp64"`, `"mixed"` (inner iterations of the pressure solve in fp32, to the
    /// same tolerance), `"fp32"` (whole time steps; the pressure to round-off at best), or
    /// `"auto"`: mixed on a device without fp64, else fp64.
    #[serde(deserialize_with = "precision")]
    pub precision: Option<Precision>,
    /// `nameplate_watts`: power of the whole node, for an estimate where no sensor is found.
    #[serde(rename = "nameplate_watts")]
    pub nameplate_w: Option<f64>,
}

impl Default for Node {
    fn default() -> Self {
        Self {
            split: Split::default(),
            device: DeviceChoice::default(),
            memory: None,
            threads: None,
            objective: Minimise::Time,
            board: AUTO.to_owned(),
            precision: None,
            nameplate_w: None,
        }
    }
}

impl Node {
    /// What the node is opened with.
    pub fn config(&self) -> Config {
        Config {
            device: self.device,
            memory: self.memory,
            threads: self.threads,
            ..Config::default()
        }
    }
}

/// What the splits minimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Minimise {
    /// Seconds of a call.
    #[default]
    Time,
    /// Joules of the whole node during a call; needs a meter.
    Energy,
    /// Joules times seconds; needs a meter.
    Edp,
}

/// The device's share of the rows of every kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "WordOrNumber")]
pub enum Split {
    /// Found by the tabu search while the simulation runs.
    #[default]
    Auto,
    /// The same for all kernels, from 0 (CPU alone) to 1 (device alone).
    Fixed(f64),
}

impl TryFrom<WordOrNumber> for Split {
    type Error = &'static str;

    fn try_from(value: WordOrNumber) -> Result<Self, Self::Error> {
        match value {
            WordOrNumber::Word(word) if word == "auto" => Ok(Self::Auto),
            WordOrNumber::Number(ratio) if (0.0..=1.0).contains(&ratio) => Ok(Self::Fixed(ratio)),
            _ => Err("not a split ratio; give \"auto\", or the device's share from 0 to 1"),
        }
    }
}

/// A name or a path; whether there is such a board is for whoever opens it to say.
fn board<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match String::deserialize(deserializer)?.trim() {
        "" => Err(de::Error::custom(
            "not a board; give \"auto\", a board's name, or the path of a board file",
        )),
        name => Ok(name.to_owned()),
    }
}

fn device<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DeviceChoice, D::Error> {
    let value = WordOrNumber::deserialize(deserializer)?;
    match (&value, value.whole()) {
        (WordOrNumber::Word(word), _) if word == "auto" => Ok(DeviceChoice::Auto),
        (WordOrNumber::Word(word), _) if word == "none" => Ok(DeviceChoice::None),
        (_, Some(index)) => Ok(DeviceChoice::Index(index)),
        _ => Err(de::Error::custom(
            "not a device; give \"auto\", \"none\", or a number from `couloir devices`",
        )),
    }
}

fn threads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let value = WordOrNumber::deserialize(deserializer)?;
    match (&value, value.whole()) {
        (WordOrNumber::Word(word), _) if word == "auto" => Ok(None),
        (_, Some(count)) if THREADS.contains(&count) => Ok(Some(count)),
        _ => Err(de::Error::custom(NO_THREADS.join("; "))),
    }
}

fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MemoryKind>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Name {
        Auto,
        ZeroCopy,
        Svm,
        Discrete,
        Host,
    }
    Ok(match Name::deserialize(deserializer)? {
        Name::Auto => None,
        Name::ZeroCopy => Some(MemoryKind::ZeroCopy),
        Name::Svm => Some(MemoryKind::Svm),
        Name::Discrete => Some(MemoryKind::Discrete),
        Name::Host => Some(MemoryKind::Host),
    })
}

fn precision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Precision>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Name {
        Auto,
        Fp64,
        Mixed,
        Fp32,
    }
    Ok(match Name::deserialize(deserializer)? {
        Name::Auto => None,
        Name::Fp64 => Some(Precision::Fp64),
        Name::Mixed => Some(Precision::Mixed),
        Name::Fp32 => Some(Precision::Fp32),
    })
}

/// A value that is either a word or a number.
enum WordOrNumber {
    Word(String),
    Number(f64),
}

impl WordOrNumber {
    /// The number, if it is a whole one that a count or index can be.
    fn whole(&self) -> Option<usize> {
        match self {
            Self::Number(x) if x.fract() == 0.0 && (0.0..1e6).contains(x) => Some(*x as usize),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for WordOrNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = WordOrNumber;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a word or a number")
            }
            fn visit_str<E>(self, word: &str) -> Result<WordOrNumber, E> {
                Ok(WordOrNumber::Word(word.to_owned()))
            }
            fn visit_f64<E>(self, x: f64) -> Result<WordOrNumber, E> {
                Ok(WordOrNumber::Number(x))
            }
            fn visit_i64<E>(self, i: i64) -> Result<WordOrNumber, E> {
                Ok(WordOrNumber::Number(i as f64))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
