//! Meters, the ledger and what a machine can say of itself, on made trees.

#[path = "../support/made.rs"]
mod made;

mod board;
mod boards;
mod climate;
mod doctor;
mod external;
mod faults;
mod files;
mod ledger;
mod machine;
mod reading;
mod repeat;
