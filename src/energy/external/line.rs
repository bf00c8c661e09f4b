//! Lines of numbers: which column, which unit.

use std::fmt;
use std::str::FromStr;

/// A line is shorter than this; what is longer is no line of numbers.
const LINE_BYTES_MAX: usize = 4096;

/// The column of the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Counted from 1.
    Number(usize),
    /// As a header line calls it.
    Name(String),
}

impl Default for Column {
    fn default() -> Self {
        Self::Number(1)
    }
}

impl FromStr for Column {
    type Err = String;

    /// A number, or else a name.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("columns are counted from 1; give one, or its name".to_owned()),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => Ok(Self::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Unit of the number, by its SI symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    symbol: &'static str,
    micro: f64,
    energy: bool,
}

/// Symbol, micro-watts or micro-joules in one, and whether it is an energy.
const UNITS: [Unit; 9] = [
    unit("W", 1e6, false),
    unit("mW", 1e3, false),
    unit("uW", 1.0, false),
    unit("J", 1e6, true),
    unit("mJ", 1e3, true),
    unit("uJ", 1.0, true),
    unit("Wh", 3.6e9, true),
    unit("mWh", 3.6e6, true),
    unit("kWh", 3.6e12, true),
];

const fn unit(symbol: &'static str, micro: f64, energy: bool) -> Unit {
    Unit {
        symbol,
        micro,
        energy,
    }
}

impl Default for Unit {
    /// Watts.
    fn default() -> Self {
        UNITS[0]
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(symbol: &str) -> Result<Self, String> {
        let known = UNITS.into_iter().find(|u| u.symbol == symbol);
        known.ok_or_else(|| {
            let all = UNITS.map(|u| u.symbol).join(", ");
            format!("{symbol:?} is no unit of a meter; give one of {all}")
        })
    }
}

impl Unit {
    /// Micro-watts or micro-joules in one of it.
    pub(super) fn micro(self) -> f64 {
        self.micro
    }

    /// Whether the meter counts energy.
    pub(super) fn is_energy(self) -> bool {
        self.energy
    }
}

/// What a line was.
pub(super) enum Parsed<'a> {
    /// Micro-watts or micro-joules.
    Reading(i64),
    /// The names of the columns.
    Header,
    /// Neither; its beginning.
    Garbage {
        /// Its beginning.
        line: &'a str,
        /// What was found in the column.
        found: &'static str,
    },
}

/// Cuts a stream of bytes into lines. The first, which may be the end of one, is dropped.
pub(super) struct Lines {
    column: Column,
    index: Option<usize>,
    unit: Unit,
    begun: Vec<u8>,
    whole: bool,
}

impl Lines {
    pub fn new(column: &Column, unit: Unit) -> Self {
        let index = match column {
            Column::Number(n) => n.checked_sub(1),
            Column::Name(_) => None,
        };
        Self {
            column: column.clone(),
            index,
            unit,
            begun: Vec::new(),
            whole: matches!(column, Column::Name(_)),
        }
    }

    /// Takes what arrived; `each` gets every line that it completes.
    pub fn add(&mut self, bytes: &[u8], mut each: impl FnMut(Parsed)) {
        for &byte in bytes {
            if !matches!(byte, b'\n' | b'\r') {
                if self.begun.len() < LINE_BYTES_MAX {
                    self.begun.push(byte);
                }
                continue;
            }
            let begun = std::mem::take(&mut self.begun);
            let line = String::from_utf8_lossy(&begun);
            let line = line.trim();
            if std::mem::replace(&mut self.whole, true) && !line.is_empty() {
                each(self.parse(line));
            }
        }
    }

    fn parse<'a>(&mut self, line: &'a str) -> Parsed<'a> {
        // The header first: a meter that starts anew may have other columns.
        let mut names = fields(line);
        if let Column::Name(name) = &self.column
            && let Some(at) = names.position(|f| f.eq_ignore_ascii_case(name))
        {
            self.index = Some(at);
            return Parsed::Header;
        }
        let field = self.index.and_then(|at| fields(line).nth(at));
        let number: Option<f64> = field.and_then(|f| f.parse().ok());
        let micro = number.map(|x| (x * self.unit.micro).round());
        let found = match micro.filter(|m| m.is_finite() && m.abs() < 9e18) {
            // A node takes power: one that gives some is a meter the wrong way round.
            Some(micro) if micro < 0.0 && !self.unit.energy => {
                "a power below 0 (exchange its leads)"
            }
            Some(micro) => return Parsed::Reading(micro as i64),
            None => "no number",
        };
        let end = line.char_indices().nth(60).map_or(line.len(), |(i, _)| i);
        let line = line.get(..end).unwrap_or("");
        Parsed::Garbage { line, found }
    }
}

/// Columns are parted by commas or semicolons, else by white space.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let marked = line.contains([',', ';']);
    let parts = line.split(move |c: char| match marked {
        true => matches!(c, ',' | ';'),
        false => c.is_whitespace(),
    });
    let trimmed = parts.map(|f| f.trim().trim_matches('"'));
    trimmed.filter(move |f| marked || !f.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(column: Column, unit: &str, text: &str) -> (Vec<i64>, usize) {
        let mut lines = Lines::new(&column, unit.parse().expect("a unit"));
        let (mut got, mut garbage) = (Vec::new(), 0);
        // In pieces of three bytes, as a serial line delivers them.
        for piece in text.as_bytes().chunks(3) {
            lines.add(piece, |parsed| match parsed {
                Parsed::Reading(micro) => got.push(micro),
                Parsed::Header => {}
                Parsed::Garbage { .. } => garbage += 1,
            });
        }
        (got, garbage)
    }

    #[test]
    fn columns_by_number_and_by_name() {
        let text = "3.5,1\n0,2.5,W\r\n1,3.5,W\n2, 4.5 ,W\n";
        let (got, garbage) = readings(Column::Number(2), "W", text);
        assert_eq!((got, garbage), (vec![2_500_000, 3_500_000, 4_500_000], 0));
        let text = "t;Power;U\n0;250;5\n1;260;5\n";
        let column = Column::Name("power".into());
        assert_eq!(readings(column.clone(), "mW", text).0, [250_000, 260_000]);
        let (got, garbage) = readings(column, "mW", "0;250;5\n1;260;5\n");
        assert_eq!((got.len(), garbage), (0, 2), "no header, no column");
        assert_eq!(
            readings(Column::Number(3), "Wh", "x\n0  1\t0.5\n").0,
            [1_800_000_000]
        );
    }

    #[test]
    fn garbage_is_no_reading() {
        for text in [
            "1,x",
            "1",
            "1,",
            "1,nan",
            "1,1e300",
            "1,-2.5",
            "\u{1}\u{fffd},,",
            ",,,",
        ] {
            let text = format!("first\n{text}\n");
            let (got, garbage) = readings(Column::Number(2), "W", &text);
            assert_eq!((got.len(), garbage), (0, 1), "{text:?}");
        }
        let long = format!("first\n{}\n1,2\n", "9".repeat(100_000));
        assert_eq!(
            readings(Column::Number(2), "J", &long),
            (vec![2_000_000], 1)
        );
        assert!("kW".parse::<Unit>().unwrap_err().contains("W, mW, uW, J"));
    }
}
