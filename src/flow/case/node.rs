//! `[node]` of a case.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// `[node]`: how the node's processors are used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Node {
    /// `split`: `"auto"` (the tabu search), or the device's share of the rows, 0 to 1.
    pub split: Split,
    /// `device`: `"auto"`, `"none"`, or a number from `couloir devices`.
    pub device: Device,
    /// `memory`: how buffers are shared with the device.
    pub memory: Memory,
    /// `threads`: `"auto"`, or the number of CPU threads.
    pub threads: Threads,
    /// `nameplate_watts`: power of the whole node, for an estimate where no sensor is found.
    #[serde(rename = "nameplate_watts")]
    pub nameplate_w: Option<f64>,
}

/// How buffers are shared with the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// The best that the device offers.
    #[default]
    Auto,
    /// Host memory mapped by the device's driver.
    ZeroCopy,
    /// Fine-grain shared virtual memory.
    Svm,
    /// The device's own memory, with staged transfers.
    Discrete,
    /// Plain host memory: no device is used.
    Host,
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

/// Which device works beside the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WordOrNumber")]
pub enum Device {
    /// The best one found; none if there is none.
    #[default]
    Auto,
    /// The CPU alone.
    None,
    /// The device with this number in the list of `couloir devices`.
    Index(usize),
}

impl TryFrom<WordOrNumber> for Device {
    type Error = &'static str;

    fn try_from(value: WordOrNumber) -> Result<Self, Self::Error> {
        match &value {
            WordOrNumber::Word(word) if word == "auto" => Ok(Self::Auto),
            WordOrNumber::Word(word) if word == "none" => Ok(Self::None),
            _ => match value.whole() {
                Some(index) => Ok(Self::Index(index)),
                None => {
                    Err("not a device; give \"auto\", \"none\", or a number from `couloir devices`")
                }
            },
        }
    }
}

/// Number of CPU threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WordOrNumber")]
pub enum Threads {
    /// One per core that the device leaves free.
    #[default]
    Auto,
    /// This many, at least one.
    Count(usize),
}

impl TryFrom<WordOrNumber> for Threads {
    type Error = &'static str;

    fn try_from(value: WordOrNumber) -> Result<Self, Self::Error> {
        match (&value, value.whole()) {
            (WordOrNumber::Word(word), _) if word == "auto" => Ok(Self::Auto),
            (_, Some(count)) if count >= 1 => Ok(Self::Count(count)),
            _ => Err("not a number of threads; give \"auto\", or 1 or more"),
        }
    }
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
