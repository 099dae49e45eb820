//! `ghostlight` alone: the operator's window.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;

use crate::{
    gui::{self, Start},
    output::{Outcome, Output},
    stage,
};

#[derive(Args, Debug)]
pub(super) struct WindowArgs {
    /// For the hub that the window starts: listen for KIND at ADDR (repeatable)
    #[arg(long = "source", value_name = "KIND[=ADDR]", value_parser = source)]
    sources: Vec<String>,
    /// For the hub that the window starts: its stage file
    #[arg(long, value_name = "FILE")]
    stage: Option<PathBuf>,
}

/// Checked here, said to the hub as it was typed.
fn source(text: &str) -> Result<String, String> {
    stage::parse_source(text).map(|_| text.to_owned())
}

pub(super) fn run(args: &WindowArgs, _out: Output) -> anyhow::Result<Outcome> {
    let start = Start {
        sources: args.sources.clone(),
        stage: args.stage.clone(),
    };
    gui::run(start).map_err(|error| {
        anyhow!("cannot open a window: {error}\n`ghostlight serve` runs the hub without one")
    })?;
    Ok(Outcome::Success)
}
