//! `ghostlight monitor`: subjects in a live table.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use clap::Args;
use crossterm::{cursor, queue, style, terminal};
use hub::{SubjectState, client::SubjectView};
use serde_json::{Value, json};

use super::{ListenArgs, record::seconds, start, status::Status, wait};
use crate::{
    live::{Listening, Live},
    output::{Outcome, Output},
};

#[derive(Args)]
pub(super) struct MonitorArgs {
    #[command(flatten)]
    listen: ListenArgs,
    /// Stop after this time
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<f64>,
}

/// One subject's numbers, copied out of the lock.
struct Row {
    name: String,
    source: String,
    role: String,
    state: SubjectState,
    rate_hz: f64,
    jitter_ms: f64,
    latency_p50_ms: Option<f64>,
    latency_p99_ms: Option<f64>,
    counts: hub::Counts,
    timecode: Option<String>,
    buffered: usize,
}

impl Row {
    fn of(view: SubjectView<'_>, live: &Live) -> Self {
        let now = live.clock().now();
        let millis = |q| view.latency().quantile_secs(q).map(|s| s * 1e3);
        Self {
            name: view.key().name.to_string(),
            source: view.key().source.to_string(),
            role: view.role().to_string(),
            state: view.state(now),
            rate_hz: view.rate_hz(now),
            jitter_ms: view.jitter_secs() * 1e3,
            latency_p50_ms: millis(0.5),
            latency_p99_ms: millis(0.99),
            counts: view.counts(),
            timecode: view.timecode().map(|t| t.label().to_string()),
            buffered: view.buffered(),
        }
    }

    fn event(&self) -> Value {
        json!({
            "event": "subject",
            "subject": self.name,
            "source": self.source,
            "role": self.role,
            "state": self.state,
            "rate_hz": self.rate_hz,
            "jitter_ms": self.jitter_ms,
            "latency_p50_ms": self.latency_p50_ms,
            "latency_p99_ms": self.latency_p99_ms,
            "received": self.counts.received,
            "lost": self.counts.lost,
            "late": self.counts.late,
            "reordered": self.counts.reordered,
            "duplicate": self.counts.duplicate,
            "refused": self.counts.refused_total(),
            "untracked": self.counts.untracked,
            "clock_steps": self.counts.clock_steps,
            "buffered": self.buffered,
            "timecode": self.timecode,
        })
    }

    fn line(&self) -> String {
        let ms = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.1}"));
        format!(
            "{} {:<14} {:>6.1} {:>7.2} {:>6} {:>6} {:>8} {:>6} {:>5} {:>5} {:>5}  {:<12} {}",
            pad(&self.name, 18),
            self.state.to_string(),
            self.rate_hz,
            self.jitter_ms,
            ms(self.latency_p50_ms),
            ms(self.latency_p99_ms),
            self.counts.received,
            self.counts.lost,
            self.counts.late,
            self.counts.duplicate,
            self.counts.refused_total(),
            self.timecode.as_deref().unwrap_or("–"),
            self.source
        )
    }
}

const HEAD: &str = "subject            state            rate  jitter    p50    p99 received   lost  late   dup   ref  timecode     source
                                    per s      ms     ms     ms";

/// To a width in terminal cells: Chinese and Japanese characters take two.
fn pad(text: &str, cells: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = if is_wide(c) { 2 } else { 1 };
        if used + width > cells {
            break;
        }
        out.push(c);
        used += width;
    }
    out.extend(std::iter::repeat_n(' ', cells - used));
    out
}

/// East Asian wide and fullwidth blocks (Unicode Standard Annex 11), and emoji.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3
        | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff | 0x20000..=0x3fffd)
}

fn socket_line(l: &Listening) -> String {
    let stats = *l
        .stats
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut text = format!(
        "{:<13} {:<22} {:>9} datagrams {:>10.1} KiB",
        l.kind.to_string(),
        l.addr.to_string(),
        stats.datagrams,
        stats.bytes as f64 / 1024.0
    );
    for (name, count) in sources::Reject::NAMES.iter().zip(stats.rejected) {
        if count > 0 {
            use std::fmt::Write as _;
            // Writing to a String cannot fail.
            let _ = write!(text, "  {name} {count}");
        }
    }
    text
}

pub(super) fn run(args: &MonitorArgs, out: Output) -> anyhow::Result<Outcome> {
    let stage = args.listen.stage()?;
    let mut live = start(&stage, out)?;
    let draws = out.is_terminal();
    let period = Duration::from_millis(if draws { 250 } else { 1000 });
    let mut first = true;
    if draws {
        queue!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide)?;
    }
    let end = wait::until_end(args.seconds, period, || {
        // The first tick comes at once, before anything can have arrived.
        if std::mem::take(&mut first) {
            return false;
        }
        let rows = live.with(|s| {
            s.client
                .subjects()
                .map(|v| Row::of(v, &live))
                .collect::<Vec<_>>()
        });
        let status = Status::of(&live);
        if draws {
            // A terminal that cannot be drawn to is gone; the signal that follows ends us.
            let _ = draw(&rows, &status, live.listening());
        } else if out.is_json() {
            for event in rows.iter().map(Row::event).chain(status.events()) {
                out.say(&event, "");
            }
        } else {
            out.note(HEAD);
            for row in &rows {
                out.note(&row.line());
            }
            for (_, line) in status.lines() {
                out.note(&line);
            }
        }
        false
    });
    if draws {
        queue!(io::stdout(), terminal::LeaveAlternateScreen, cursor::Show)?;
        io::stdout().flush()?;
    }
    end?;
    live.stop();
    for l in live.listening() {
        out.note(&socket_line(l));
    }
    Ok(Outcome::Success)
}

fn draw(rows: &[Row], status: &Status, listening: &[Listening]) -> io::Result<()> {
    let (width, height) = terminal::size()?;
    let mut out = io::stdout().lock();
    queue!(out, cursor::MoveTo(0, 0))?;
    let mut lines: Vec<(Option<style::Color>, String)> = Vec::new();
    lines.push((None, "ghostlight monitor — Ctrl-C ends".to_owned()));
    lines.extend(listening.iter().map(|l| (None, socket_line(l))));
    lines.push((None, String::new()));
    lines.extend(HEAD.lines().map(|l| (None, l.to_owned())));
    for row in rows {
        let color = match row.state {
            SubjectState::Connected => style::Color::Green,
            SubjectState::TrackingLost | SubjectState::Conflict => style::Color::Yellow,
            SubjectState::Disabled => style::Color::DarkGrey,
            SubjectState::Unresponsive | SubjectState::Disconnected => style::Color::Red,
        };
        lines.push((Some(color), row.line()));
    }
    if rows.is_empty() {
        lines.push((
            None,
            "no subject yet: does the phone send to this machine's address and the port above?"
                .to_owned(),
        ));
    }
    lines.push((None, String::new()));
    for (is_well, line) in status.lines() {
        let color = (!is_well).then_some(style::Color::Yellow);
        lines.push((color, line));
    }
    for (color, line) in lines.iter().take(usize::from(height).saturating_sub(1)) {
        if let Some(color) = color {
            queue!(out, style::SetForegroundColor(*color))?;
        }
        let fitted = pad(line, usize::from(width));
        queue!(
            out,
            style::Print(fitted),
            style::ResetColor,
            cursor::MoveToNextLine(1)
        )?;
    }
    queue!(out, terminal::Clear(terminal::ClearType::FromCursorDown))?;
    out.flush()
}
