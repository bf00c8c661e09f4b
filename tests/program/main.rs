//! The program as its users run it: commands, cases, results, refusals.

#[path = "../support/cases.rs"]
mod cases;
#[path = "../support/folder.rs"]
mod folder;

mod bench;
mod bench_refused;
mod case;
mod case_refused;
mod cli;
mod compare;
mod deploy;
mod deploy_lost;
mod hosts;
mod report_chart;
mod report_files;
mod report_profile;
mod run;
mod run_energy;
mod run_errors;
mod run_files;
mod run_physics;
mod run_single;
