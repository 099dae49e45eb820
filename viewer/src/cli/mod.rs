//! The command line: one file per command. Parsing and exit codes are here.

mod demo;
mod desks;
mod doctor;
mod export;
mod monitor;
mod neighbours;
mod pair;
mod play;
mod record;
#[cfg(feature = "render")]
mod render;
mod retarget;
mod rig;
mod send;
mod serve;
mod status;
mod take;
mod wait;
#[cfg(feature = "gui")]
mod window;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::{
    live::Live,
    output::{Outcome, Output, UsageError},
    stage::{self, SourceTable, Stage},
};

const AFTER_HELP: &str = "\
Exit codes: 0 success · 1 failure · 2 wrong usage · 3 it worked, but something was lost, left out or found wrong.

Examples:
  ghostlight demo                                   a whole session without any device, in under a minute
  ghostlight monitor --source livelinkface          does my phone arrive?
  ghostlight record --source livelinkface --slate Scene1 --out takes
  ghostlight export takes/2026-11-30_Scene1_001.mcap --format csv --format glb --out exports

In the Live Link Face app: Settings, Live Link, add this machine's address and port 11111.";

/// The performance-capture hub: receives, records and exports faces and bodies.
#[derive(Parser)]
#[command(
    name = "ghostlight",
    version,
    after_help = AFTER_HELP,
    propagate_version = true,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = cfg!(not(feature = "gui"))
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[cfg(feature = "gui")]
    #[command(flatten)]
    window: window::WindowArgs,
    /// Print one JSON object a line on standard output, for machines
    #[arg(long, global = true, display_order = 1000)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// A whole session by itself: a synthetic phone streams over UDP, is recorded, and exported
    Demo(demo::DemoArgs),
    /// Run the hub without a window until it is interrupted
    Serve(serve::ServeArgs),
    /// Play a phone: send a CSV take or a synthetic performer, over a good or a bad network
    Send(send::SendArgs),
    /// Watch subjects live: rate, latency, loss, state, timecode
    Monitor(monitor::MonitorArgs),
    /// Why is nothing moving? Look at everything on the way, and say what to do
    Doctor(doctor::DoctorArgs),
    /// Show what to type into the phone, and what is wrong until it arrives
    Pair(pair::PairArgs),
    /// Record a take until the time is over or it is interrupted
    Record(record::RecordArgs),
    /// List, describe, check and recover takes
    Take(take::TakeArgs),
    /// Send a take to a hub or program at its own timing
    Play(play::PlayArgs),
    /// Make files of a take that other programs open
    Export(export::ExportArgs),
    /// Draw a take as pictures, without a window
    #[cfg(feature = "render")]
    Render(render::RenderArgs),
    /// Put a character in the performer's place: a take in, a take out
    Retarget(retarget::RetargetArgs),
    /// Say which bone of a skeleton is which of a person's
    Rig(rig::RigArgs),
}

/// What to listen to.
#[derive(Args, Clone, Debug)]
struct ListenArgs {
    /// Listen for KIND at ADDR (repeatable), for example livelinkface=127.0.0.1:0; port 0 picks a free one
    #[arg(long = "source", value_name = "KIND[=ADDR]", value_parser = stage::parse_source)]
    sources: Vec<SourceTable>,
    /// Read sources, subjects and settings from this TOML file
    #[arg(long, value_name = "FILE")]
    stage: Option<PathBuf>,
}

impl ListenArgs {
    /// The stage file and the sources on top of it; with neither, what needs no device's address.
    fn stage(&self) -> anyhow::Result<Stage> {
        let mut stage = match &self.stage {
            Some(path) => Stage::read(path)?,
            None => Stage::default(),
        };
        self.complete(&mut stage);
        Ok(stage)
    }

    /// Adds what the command line says, and the usual sources where nothing is said.
    fn complete(&self, stage: &mut Stage) {
        stage.sources.extend(self.sources.iter().cloned());
        if stage.sources.is_empty() {
            for kind in sources::Protocol::USUAL {
                let addr = ([0, 0, 0, 0], kind.default_port()).into();
                stage.sources.push(SourceTable::new(kind, addr));
            }
        }
    }
}

/// Starts the hub and says where it listens.
fn start(stage: &Stage, out: Output) -> anyhow::Result<Live> {
    let live = Live::start(stage)?;
    announce(&live, out);
    Ok(live)
}

/// Says where the hub listens: whoever reads this may send at once.
fn announce(live: &Live, out: Output) {
    for l in live.listening() {
        let event = serde_json::json!({
            "event": "listening",
            "source": l.kind.as_str(),
            "addr": l.addr.to_string(),
            "receive_buffer_bytes": l.receive_buffer_bytes,
        });
        let sentence = match (l.connects, l.transport) {
            (true, _) => format!("connecting to {} for {}", l.addr, l.kind),
            (false, stage::Transport::Tcp) => format!("listening for {} on TCP {}", l.kind, l.addr),
            (false, stage::Transport::Udp) => format!(
                "listening for {} on {} (receive buffer {} KiB)",
                l.kind,
                l.addr,
                l.receive_buffer_bytes / 1024
            ),
        };
        out.say(&event, &sentence);
    }
    status::announce(live, out);
}

impl Cli {
    /// Runs the command; errors go to standard error, and with `--json` also to standard output.
    pub fn run(self) -> ExitCode {
        let out = Output::new(self.json);
        let Some(command) = self.command else {
            #[cfg(feature = "gui")]
            return ended(window::run(&self.window, out), out);
            #[cfg(not(feature = "gui"))]
            return ended(Err(UsageError("expected a command".into()).into()), out);
        };
        let outcome = match command {
            Command::Demo(args) => demo::run(&args, out),
            Command::Serve(args) => serve::run(&args, out),
            Command::Send(args) => send::run(&args, out),
            Command::Monitor(args) => monitor::run(&args, out),
            Command::Doctor(args) => doctor::run(&args, out),
            Command::Pair(args) => pair::run(&args, out),
            Command::Record(args) => record::run(&args, out),
            Command::Take(args) => take::run(&args, out),
            Command::Play(args) => play::run(&args, out),
            Command::Export(args) => export::run(&args, out),
            #[cfg(feature = "render")]
            Command::Render(args) => render::run(&args, out),
            Command::Retarget(args) => retarget::run(&args, out),
            Command::Rig(args) => rig::run(&args, out),
        };
        ended(outcome, out)
    }
}

/// Says an error, and makes the exit code.
fn ended(outcome: anyhow::Result<Outcome>, out: Output) -> ExitCode {
    match outcome {
        Ok(Outcome::Success) => ExitCode::SUCCESS,
        Ok(Outcome::WithLoss) => ExitCode::from(3),
        Err(error) => {
            out.error(&format!("{error:#}"));
            if error.is::<UsageError>() {
                ExitCode::from(2)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
