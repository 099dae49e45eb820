//! The hub that the window is a desk of: one that runs already, or one that the window starts.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};

use crate::desk::{
    client::{Client, Wake},
    place::{self, Place},
};

/// How long a hub may take to start.
const START: Duration = Duration::from_secs(20);
/// How long the window waits for its hub to end; a hub that needs longer ends without it.
const END: Duration = Duration::from_secs(30);
/// How often it is looked for meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// What a hub is started with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// `--source` arguments.
    pub sources: Vec<String>,
    /// The stage file.
    pub stage: Option<PathBuf>,
}

/// A hub process that this window started.
pub(super) struct Hub {
    child: Option<Child>,
}

/// Connects to the hub that runs, or starts one. `wake` makes what is called when something came.
///
/// # Errors
/// When none runs and none can be started, with what it said.
pub(super) fn reach(start: &Start, wake: impl Fn() -> Wake) -> anyhow::Result<(Client, Hub)> {
    let folder = place::folder().context("this user has no folder")?;
    if let Some(place) = Place::read(&folder)
        && let Ok(client) = Client::connect(place.addr, &place.token, wake())
    {
        return Ok((client, Hub { child: None }));
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut command = Command::new(program);
    command.arg("serve").arg("--desk");
    for source in &start.sources {
        command.arg("--source").arg(source);
    }
    if let Some(stage) = &start.stage {
        command.arg("--stage").arg(stage);
    }
    // What it says is told over the desk; a pipe that nobody reads must not exist.
    let errors = std::fs::File::create(folder_for(&folder)?.join("hub.log"))
        .context("cannot write the hub's log")?;
    // A hub that a window started ends when no desk comes back; see `cli::desks`.
    command.env("GHOSTLIGHT_WINDOW", "1");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // Ctrl-C at the window's terminal is not for the hub: a take must not end by it.
        command.process_group(0);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        // A process group of its own and no console: closing the window's console is not for the hub.
        command.creation_flags(0x0000_0200 | 0x0800_0000);
    }
    let mut child = command.spawn().context("cannot start the hub")?;
    let mut waited = Duration::ZERO;
    loop {
        if let Some(place) = Place::read(&folder).filter(|p| p.pid == child.id()) {
            match Client::connect(place.addr, &place.token, wake()) {
                Ok(client) => return Ok((client, Hub { child: Some(child) })),
                Err(error) => {
                    end(&mut child);
                    return Err(error);
                }
            }
        }
        if let Some(status) = child.try_wait().context("cannot ask for the hub")? {
            let said = std::fs::read_to_string(folder.join("hub.log")).unwrap_or_default();
            bail!("the hub did not start ({status}): {}", said.trim());
        }
        if waited > START {
            end(&mut child);
            bail!("the hub did not start within {} s", START.as_secs());
        }
        std::thread::sleep(LOOK);
        waited += LOOK;
    }
}

/// Ends a hub that no desk reaches: nobody could tell it to.
fn end(child: &mut Child) {
    // It has perhaps ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

fn folder_for(folder: &std::path::Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    Ok(folder.to_owned())
}

impl Hub {
    /// Whether this window started it, and so ends it.
    pub(super) fn is_ours(&self) -> bool {
        self.child.is_some()
    }

    /// Tells it to end over a new connection, which has to be kept until it has.
    pub(super) fn end(&self) -> Option<Client> {
        let child = self.child.as_ref()?;
        let place = Place::read(&place::folder()?).filter(|p| p.pid == child.id())?;
        let client = Client::connect(place.addr, &place.token, Box::new(|_| ())).ok()?;
        client.quit().ok()?;
        Some(client)
    }

    /// Waits until it has ended; how it did is in its log.
    pub(super) fn wait(&mut self) {
        let Some(child) = &mut self.child else {
            return;
        };
        let mut waited = Duration::ZERO;
        while waited < END && matches!(child.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
    }
}
