//! `ghostlight doctor`: why is nothing moving?

use std::{net::IpAddr, path::Path, time::Duration};

use anyhow::Context as _;
use characters::Character;
use clap::Args;
use hub::WorldTime;
use sources::Protocol;

use super::{ListenArgs, announce, record::seconds, wait};
use crate::{
    adapters::{self, Ranked, Wish},
    discovery::{self, Discovery, Hub},
    doctor::{self, Asked, Level, Motion, SourceFault, Started},
    live::Live,
    output::{Outcome, Output},
    stage::SourceTable,
};

/// How often hubs are looked for.
const PERIOD: Duration = Duration::from_millis(200);
/// Ticks between two words of progress.
const PROGRESS_TICKS: u32 = 5;

#[derive(Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// Listen for this time
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// The subject that should move; default all
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// The character that should move: a GLB file, or "builtin"
    #[arg(long, value_name = "FILE|builtin")]
    character: Option<String>,
}

/// The character, or why it cannot be read: a finding like others.
fn character(name: &str) -> Result<Character, String> {
    if name == "builtin" {
        return Ok(Character::builtin().clone());
    }
    let path = Path::new(name);
    let read = || -> anyhow::Result<Character> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Character::from_glb(&bytes).with_context(|| format!("cannot use {}", path.display()))
    };
    read().map_err(|error| format!("{error:#}"))
}

/// Looks for hubs, while a port is in use: one of them may have it. Without the search the rest goes on.
fn look_for_hubs(started: &Started, ranked: &[Ranked]) -> Option<Discovery> {
    let mut faults = started.faults.iter().flatten();
    if !faults.any(|f| matches!(f, SourceFault::PortInUse { .. })) {
        return None;
    }
    let options = discovery::Options {
        name: discovery::machine_name(),
        run: format!("doctor-{:x}", std::process::id()),
        // We offer nothing.
        native_port: 0,
        sources: Vec::new(),
        adapters: ranked
            .iter()
            .filter(|r| r.usable)
            .map(|r| r.adapter.clone())
            .collect(),
    };
    Discovery::start(&options).ok()
}

/// Hubs on this very computer.
fn here<'a>(hubs: &'a [Hub], ranked: &'a [Ranked]) -> impl Iterator<Item = &'a Hub> {
    let is_own = move |ip: IpAddr| ranked.iter().any(|r| r.adapter.ip == ip);
    let offers = |h: &&Hub| h.native_port != 0 || !h.sources.is_empty();
    hubs.iter()
        .filter(offers)
        .filter(move |h| h.addresses.iter().any(|a| is_own(a.ip)))
}

/// One line while it listens.
fn progress(live: &Live, at: WorldTime, of_secs: f64) -> String {
    let packets: u64 = live
        .listening()
        .iter()
        .map(|l| {
            let stats = l
                .stats
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            stats.datagrams
        })
        .sum();
    let subjects = live.with(|s| s.client.subjects().count());
    format!(
        "  {:.0} of {of_secs:.0} s: packets {packets}, subjects {subjects}",
        at.as_secs_f64()
    )
}

pub(super) fn run(args: &DoctorArgs, out: Output) -> anyhow::Result<Outcome> {
    let stage = args.listen.stage()?;
    let character = args.character.as_deref().map(character);
    // Without a list of them the rest can still be told.
    let adapters = adapters::adapters().unwrap_or_else(|error| {
        out.warn(&format!("cannot list this computer's adapters: {error}"));
        Vec::new()
    });
    let ranked = adapters::rank(&adapters, Wish::default());
    let mut started = doctor::start(&stage)?;
    let motion = Motion::default();
    started.live.observe(motion.observer());
    if out.is_json() {
        // Whoever reads this may send at once.
        announce(&started.live, out);
    }
    let mut hubs = look_for_hubs(&started, &ranked);
    out.note(&format!(
        "Listening for {:.0} s. Let the device send.",
        args.seconds
    ));
    let begun = started.live.clock().now();
    let mut tick = 0u32;
    wait::until_end(Some(args.seconds), PERIOD, || {
        if let Some(hubs) = &mut hubs {
            // The list itself is looked at in the end.
            let _ = hubs.poll();
        }
        if tick.is_multiple_of(PROGRESS_TICKS) && tick > 0 {
            let now = started.live.clock().now();
            let passed = WorldTime::from_nanos(now - begun);
            out.note(&progress(&started.live, passed, args.seconds));
        }
        tick = tick.wrapping_add(1);
        false
    })?;
    let listened = started.live.clock().now() - begun;
    let hubs_here = hubs.as_ref().map_or_else(Vec::new, |hubs| {
        here(hubs.hubs(), &ranked).map(|h| h.name.clone()).collect()
    });
    let facts = doctor::gather(
        &started,
        &motion,
        Asked {
            stage: &stage,
            are_sources_usual: are_usual(&args.listen, &stage.sources),
            wanted: args.subject.as_deref(),
            character: character.as_ref(),
            adapters: &ranked,
            hubs_here,
            listened_secs: listened as f64 / 1e9,
        },
    );
    if let Some(hubs) = hubs {
        hubs.stop();
    }
    started.live.stop();
    let report = doctor::diagnose(&facts);
    out.note("");
    for finding in report.findings() {
        out.say(&finding.event(), &finding.lines());
    }
    out.say(&report.event(), &format!("\n{}", report.conclusion()));
    Ok(Outcome::lossy(report.count(Level::Problem) > 0))
}

/// Whether nobody named a source, on the command line or in the stage file.
fn are_usual(args: &ListenArgs, sources: &[SourceTable]) -> bool {
    let kinds = sources.iter().map(|s| s.kind);
    args.sources.is_empty() && args.stage.is_none() && kinds.eq(Protocol::USUAL)
}
