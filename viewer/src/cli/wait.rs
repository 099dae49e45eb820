//! Waiting for the end: a span of time, Ctrl-C, or a polite kill.

use std::time::Duration;

use anyhow::Context as _;

use crate::output::Output;

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The time is over.
    Time,
    /// SIGINT, SIGTERM, or the console was closed.
    Signal,
    /// `tick` asked for it.
    Asked,
}

impl End {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Signal => "signal",
            Self::Asked => "asked",
        }
    }
}

/// Waits for `seconds` (for ever if `None`) or a signal, calling `tick` at each `period`; `tick` returns
/// true to end.
pub(super) fn until_end(
    seconds: Option<f64>,
    period: Duration,
    mut tick: impl FnMut() -> bool,
) -> anyhow::Result<End> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the timer runtime")?;
    runtime.block_on(async {
        let mut signals = std::pin::pin!(signal()?);
        let span = seconds.map_or(Duration::from_secs(u64::from(u32::MAX)), |s| {
            Duration::from_secs_f64(s.clamp(0.0, f64::from(u32::MAX)))
        });
        let mut time = std::pin::pin!(tokio::time::sleep(span));
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                () = &mut signals => return Ok(End::Signal),
                () = &mut time => return Ok(End::Time),
                _ = ticks.tick() => if tick() {
                    return Ok(End::Asked);
                },
            }
        }
    })
}

/// From now on another signal ends the process at once: for whoever does not want to wait for a disk that hangs.
/// What is on the disk by then is recovered at the next start.
pub(super) fn exit_on_next_signal(out: Output) {
    let waiting = std::thread::Builder::new().name("impatience".into());
    // Without the thread a second signal is ignored, as before; that is no reason not to finish.
    let _ = waiting.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(async {
                if let Ok(signal) = signal() {
                    signal.await;
                    out.warn("ended at once; the next start recovers the take");
                    std::process::exit(1);
                }
            });
        }
    });
}

/// Resolves on the first signal to end. Listening for it begins at once.
#[cfg(unix)]
fn signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    // A closed terminal ends a take as properly as Ctrl-C.
    let mut hangup = listen(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signal() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
