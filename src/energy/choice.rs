//! Which rails make up the node's energy.

use super::{Meter, Scope};

/// The rails to add, and why these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Meter and rail numbers; no two contain each other.
    pub rails: Vec<(usize, usize)>,
    /// What the total consists of, for tables and JSON; `none` without any rail.
    pub text: String,
    /// False for a model and for nothing.
    pub measured: bool,
    /// Sentences for the log.
    pub log: Vec<String>,
}

/// A readable rail that no other rail of its meter contains.
struct Outer {
    at: (usize, usize),
    scope: Scope,
    meter: String,
    rail: String,
}

impl Outer {
    fn shown(&self) -> String {
        format!("{} {}", self.meter, self.rail)
    }
}

/// Chooses disjoint rails that cover as much of the node as possible:
///
/// - the board's input, if a meter has it: it contains everything else;
/// - else, without a graphics card's meter, RAPL's platform rail (with a card it is not
///   known whether the platform contains the card);
/// - else the CPU side plus the cards, which have their own supply. The CPU side is the
///   packages of the first meter that has any, else the board's single rails;
/// - else the model.
///
/// Each rail is read once, to see that it can be. A rail inside one that cannot be read is
/// not taken in its place: it would pass a part off as the whole.
pub fn choose(meters: &mut [Box<dyn Meter>]) -> Choice {
    let mut log = Vec::new();
    let outer = readable_outer_rails(meters, &mut log);
    let of = |scope: Scope| outer.iter().filter(move |o| o.scope == scope);

    let cards: Vec<&Outer> = of(Scope::Device).collect();
    let mut chosen: Vec<&Outer> = Vec::new();
    let mut why = "";
    if let Some(board) = of(Scope::Board).next() {
        chosen.push(board);
        why = "the board's input contains every other rail";
    } else if let Some(platform) = of(Scope::Platform).next().filter(|_| cards.is_empty()) {
        chosen.push(platform);
        why = "the platform rail contains the packages";
    } else {
        if let Some(first) = of(Scope::Package).next() {
            chosen.extend(of(Scope::Package).filter(|o| o.at.0 == first.at.0));
            why = "packages do not contain each other";
        } else if of(Scope::Part).next().is_some() {
            chosen.extend(of(Scope::Part));
            why = "no rail is known to be the board's input, and these are taken as disjoint";
        }
        if !cards.is_empty() && chosen.is_empty() {
            why = "only graphics cards are measured; the CPU side is not";
        } else if !cards.is_empty() {
            why = "the CPU side and graphics cards have separate supplies";
        }
        chosen.extend(&cards);
    }
    if chosen.is_empty() {
        return without_sensor(of(Scope::Model).next(), log);
    }

    let text = chosen
        .iter()
        .map(|o| o.shown())
        .collect::<Vec<_>>()
        .join(" + ");
    log.push(format!("energy: measured as {text} ({why})"));
    let left_out: Vec<String> = outer
        .iter()
        .filter(|o| o.scope != Scope::Model && !chosen.iter().any(|c| c.at == o.at))
        .map(Outer::shown)
        .collect();
    if !left_out.is_empty() {
        log.push(format!(
            "energy: left out, because the chosen rails contain or repeat them: {}",
            left_out.join(", ")
        ));
    }
    Choice {
        rails: chosen.iter().map(|o| o.at).collect(),
        text,
        measured: true,
        log,
    }
}

/// Behind the name of a model.
pub const ESTIMATE: &str = " (estimate, not measured)";

/// The model if there is one, marked as such; otherwise nothing.
fn without_sensor(model: Option<&Outer>, mut log: Vec<String>) -> Choice {
    match model {
        Some(model) => {
            let text = format!("{}{ESTIMATE}", model.shown());
            log.push(format!(
                "energy: no usable sensor on this node; joules are watts times seconds: {text}"
            ));
            Choice {
                rails: vec![model.at],
                text,
                measured: false,
                log,
            }
        }
        None => {
            log.push(
                "energy: no usable sensor on this node, and no nameplate power given: joules \
                 are not known; give the node's watts under load for an estimate"
                    .into(),
            );
            Choice {
                text: "none".into(),
                log,
                ..Choice::default()
            }
        }
    }
}

fn readable_outer_rails(meters: &mut [Box<dyn Meter>], log: &mut Vec<String>) -> Vec<Outer> {
    let mut outer = Vec::new();
    for (m, meter) in meters.iter_mut().enumerate() {
        let rails = meter.rails().to_vec();
        for (r, rail) in rails.into_iter().enumerate() {
            if rail.contained_in.is_some() {
                continue;
            }
            match meter.read(r) {
                Ok(_) => outer.push(Outer {
                    at: (m, r),
                    scope: rail.scope,
                    meter: meter.name().to_string(),
                    rail: rail.name,
                }),
                Err(why) => log.push(format!(
                    "energy: {} {} is present but unreadable ({why}) and is missing from the \
                     total; {}",
                    meter.name(),
                    rail.name,
                    meter.remedy()
                )),
            }
        }
    }
    outer
}
