//! Parses, dispatches, exits.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    viewer::cli::Cli::parse().run()
}
