//! Outputs: subjects on to other programs, each output with a thread of its own.
//!
//! ```text
//!  tick:  StageView ── with_client: look, evaluate ──► Lanes ─► Encoder per subject ─► Fan ─► socket per receiver
//!                                                        ▲                        └─► Board ─► one task per page
//!  pass:  LiveSink ─► Feed (1,024 frames, 16 MiB) ───────┘
//! ```
//!
//! The hub's lock is held to look and to copy, never to encode or to send. Whatever a receiver does (dead, slow,
//! gone), the output goes on, the other receivers go on, and neither the hub nor the recorder waits for any of
//! them.

mod board;
mod feed;
mod gate;
mod lanes;
mod options;
mod pace;
mod runner;
mod select;
mod sender;
mod stats;
#[cfg(test)]
mod tests;
mod udp;
mod websocket;

use std::{net::SocketAddr, sync::Arc, thread::JoinHandle};

use anyhow::{Context as _, ensure};
use hub::{QualifiedFrameTime, SubjectKey, SubjectName, WorldTime, client::Client};

pub use feed::Feed;
pub use options::{
    Bundle, EvaluateAt, MAX_RECEIVERS, Mode, OutputKind, OutputOptions, WEBSOCKET_PORT,
};
pub use select::Patterns;
pub use stats::{Missing, OutputStats, ReceiverStats};

use runner::{Control, Runner};
use sender::Sender;

/// Most outputs of a hub.
const MAX_OUTPUTS: usize = 64;

/// How the operator has a subject sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// The name it goes under; its own without.
    pub name: Option<SubjectName>,
    /// Whether it is sent.
    pub enabled: bool,
    /// Whether it stands still: the pose at the moment of the pause is sent on, with times that go on.
    pub paused: bool,
}

impl Default for Outbound {
    /// Sent live, under its own name.
    fn default() -> Self {
        Self {
            name: None,
            enabled: true,
            paused: false,
        }
    }
}

/// What outputs see of a hub. No method is called from within another.
pub trait StageView: Send + Sync {
    /// The hub's clock.
    fn now(&self) -> WorldTime;

    /// Lends the client. Receiving waits for as long as `f` takes, so `f` only looks and copies.
    fn with_client(&self, f: &mut dyn FnMut(&Client));

    /// How a subject is to be sent.
    fn outbound(&self, key: &SubjectKey) -> Outbound;

    /// The hub's own timecode.
    fn timecode(&self, at: WorldTime) -> QualifiedFrameTime;
}

/// An output that runs. Stops when it is dropped.
pub struct RunningOutput {
    name: String,
    kind: OutputKind,
    control: Arc<Control>,
    feed: Option<Arc<Feed>>,
    listening: Option<SocketAddr>,
    thread: Option<JoinHandle<()>>,
}

/// Starts all outputs, those that are switched off too: they only wait.
///
/// Names are looked up here, which may take a while; after this nothing waits for the network.
///
/// # Errors
/// What cannot be used, by the output's number. None runs then.
pub fn start(
    options: &[OutputOptions],
    view: &Arc<dyn StageView>,
) -> anyhow::Result<Vec<RunningOutput>> {
    ensure!(
        options.len() <= MAX_OUTPUTS,
        "{} outputs are more than {MAX_OUTPUTS}",
        options.len()
    );
    let mut plans = Vec::with_capacity(options.len());
    for (index, options) in options.iter().enumerate() {
        let number = index + 1;
        let plan = options
            .plan(number)
            .with_context(|| format!("output {number} cannot be used"))?;
        ensure!(
            plans.iter().all(|p: &options::Plan| p.name != plan.name),
            "two outputs are called {:?}; give one of them another name",
            plan.name
        );
        plans.push(plan);
    }
    plans
        .into_iter()
        .map(|plan| RunningOutput::start(plan, view))
        .collect()
}

/// The output of that name, or of that number counted from 1.
pub fn find<'a>(outputs: &'a [RunningOutput], which: &str) -> Option<&'a RunningOutput> {
    let by_name = outputs.iter().find(|o| o.name == which);
    by_name.or_else(|| {
        let index = which.parse::<usize>().ok()?.checked_sub(1)?;
        outputs.get(index)
    })
}

impl RunningOutput {
    fn start(plan: options::Plan, view: &Arc<dyn StageView>) -> anyhow::Result<Self> {
        let sender = Sender::start(&plan)?;
        let (name, kind, listening) = (plan.name.clone(), plan.kind, sender.listening());
        let mut stats = OutputStats::new(name.clone(), kind);
        stats.is_enabled = plan.enabled;
        stats.listening = listening;
        let control = Arc::new(Control::new(stats, plan.enabled));
        let feed = (plan.mode == Mode::Pass)
            .then(|| Arc::new(Feed::new(plan.select.clone(), plan.enabled)));
        let runner = Runner::new(
            plan,
            Arc::clone(view),
            Arc::clone(&control),
            feed.clone(),
            sender,
        );
        let thread = std::thread::Builder::new()
            .name(format!("out-{name}"))
            .spawn(move || runner.run())
            .with_context(|| format!("cannot start a thread for output {name}"))?;
        Ok(Self {
            name,
            kind,
            control,
            feed,
            listening,
            thread: Some(thread),
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it speaks.
    pub fn kind(&self) -> OutputKind {
        self.kind
    }

    /// Where it listens, if it does.
    pub fn listening(&self) -> Option<SocketAddr> {
        self.listening
    }

    /// What it wants to be fed with, if it passes frames through: the sink of every source calls it.
    pub fn feed(&self) -> Option<&Arc<Feed>> {
        self.feed.as_ref()
    }

    /// Whether it is switched on.
    pub fn is_enabled(&self) -> bool {
        self.control.is_enabled()
    }

    /// Switches it on or off. Receivers that are told of ends hear that its subjects end.
    pub fn set_enabled(&self, is_enabled: bool) {
        self.control.set_enabled(is_enabled);
        if let Some(feed) = &self.feed {
            feed.set_wanted(is_enabled);
        }
    }

    /// At a glance; at most a tenth of a second old.
    pub fn stats(&self) -> OutputStats {
        let mut stats = self.control.stats();
        stats.is_running = self.thread.as_ref().is_some_and(|t| !t.is_finished());
        stats
    }

    /// Ends it: receivers that are told of ends hear it, and pages are disconnected. Takes up to a tenth of a
    /// second.
    pub fn stop(&mut self) {
        self.control.stop();
        if let Some(feed) = &self.feed {
            feed.set_wanted(false);
            feed.queue.close();
        }
        if let Some(thread) = self.thread.take() {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}

impl Drop for RunningOutput {
    fn drop(&mut self) {
        self.stop();
    }
}
