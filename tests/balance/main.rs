//! The search for the best split, on synthetic nodes.

mod energy;
mod noise;
mod split_cache;
mod tabu;
mod throttle;
mod tuner;
