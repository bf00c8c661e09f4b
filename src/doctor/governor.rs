//! Frequency: the governor, and limits below the highest.

use super::files::glob;
use super::{Finding, Scene, ok, warning};

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let policies = glob(&scene.tree, "sys/devices/system/cpu/cpufreq/policy*");
    let (mut slow, mut limited) = (Vec::new(), Vec::new());
    for policy in &policies {
        let name = policy.rsplit('/').next().unwrap_or(policy);
        let governor = scene.tree.text(&format!("{policy}/scaling_governor"));
        if let Ok(governor) = governor
            && governor != "performance"
        {
            slow.push(format!("{name} {governor}"));
        }
        let mhz = |file: &str| {
            let khz = scene.tree.integer(&format!("{policy}/{file}")).ok()?;
            Some(khz / 1000)
        };
        if let (Some(limit), Some(most)) = (mhz("scaling_max_freq"), mhz("cpuinfo_max_freq"))
            && limit < most
        {
            limited.push(format!("{name} to {limit} of {most} MHz"));
        }
    }
    let mut found = Vec::new();
    if !slow.is_empty() {
        found.push(warning(
            format!("governor: {}; times and splits vary with the load", slow.join(", ")),
            "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        ));
    }
    if !limited.is_empty() {
        found.push(warning(
            format!("frequency is limited: {}", limited.join(", ")),
            "raise scaling_max_freq, or change the power mode (nvpmodel, power profile)",
        ));
    }
    if found.is_empty() {
        found.push(ok(match policies.len() {
            0 => "no frequency scaling to be seen".to_owned(),
            n => format!("governor: performance, {n} policies"),
        }));
    }
    found
}
