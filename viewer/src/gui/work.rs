//! What takes time: takes are listed, noted and exported on threads, and what they learn is looked at by the window.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use serde::{Deserialize, Serialize};

use super::{Dialog, Job, JobState, TakeRow};

/// Messages that wait for the window.
const MAX_WAITING: usize = 256;
/// Longest notes of a take.
const MAX_NOTES: usize = 4096;

/// What a thread learned.
pub(super) enum Learned {
    /// The takes of the folder.
    Takes(Vec<TakeRow>),
    /// How a job stands.
    Job(Job),
}

/// Notes of a take, in a file beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Notes {
    rating: u8,
    notes: String,
}

/// Threads of the window.
pub(super) struct Work {
    to: SyncSender<Learned>,
    from: Receiver<Learned>,
    wake: Arc<dyn Fn() + Send + Sync>,
    /// Export processes that run, by the number of their job.
    running: Arc<Mutex<Vec<(u64, Child)>>>,
    next: u64,
    /// Notes that are not written yet.
    pending: Arc<Mutex<BTreeMap<PathBuf, Notes>>>,
}

fn notes_path(take: &Path) -> PathBuf {
    let mut name = take.as_os_str().to_owned();
    name.push(".notes.json");
    name.into()
}

fn row(entry: recordings::library::Entry) -> TakeRow {
    let notes: Notes = std::fs::read(notes_path(&entry.path))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let good = entry.status == recordings::library::Status::Good;
    let info = entry.info.unwrap_or_default();
    TakeRow {
        status: entry.status.as_str().to_owned(),
        good,
        secs: info.duration_secs,
        subjects: info.subjects.iter().map(|s| s.name.clone()).collect(),
        lost: info.lost(),
        slate: info.slate,
        take: info.take,
        date: info.date,
        bytes: entry.bytes,
        rating: notes.rating.min(5),
        notes: notes.notes,
        path: entry.path,
    }
}

impl Work {
    /// `wake` is called when something was learned.
    pub(super) fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        let (to, from) = sync_channel(MAX_WAITING);
        Self {
            to,
            from,
            wake,
            running: Arc::default(),
            next: 1,
            pending: Arc::default(),
        }
    }

    /// What was learned since the last look.
    pub(super) fn learned(&self) -> impl Iterator<Item = Learned> {
        self.from.try_iter()
    }

    fn spawn(&self, work: impl FnOnce(&dyn Fn(Learned)) + Send + 'static) {
        let (to, wake) = (self.to.clone(), Arc::clone(&self.wake));
        let started = std::thread::Builder::new()
            .name("work".into())
            .spawn(move || {
                work(&|learned| {
                    // Nobody looks any more when the window has closed.
                    let _ = to.send(learned);
                    wake();
                });
            });
        // Without a thread the list stays as it was; the operator asks again.
        drop(started);
    }

    /// Looks at the takes of a folder, newest first.
    pub(super) fn list(&self, folder: PathBuf) {
        self.spawn(move |tell| {
            let mut rows: Vec<_> = recordings::library::list(&folder)
                .unwrap_or_default()
                .into_iter()
                .map(row)
                .collect();
            rows.reverse();
            tell(Learned::Takes(rows));
        });
    }

    /// Writes a take's notes beside it.
    pub(super) fn annotate(&self, take: &Path, rating: u8, mut notes: String) {
        notes.truncate(notes.floor_char_boundary(MAX_NOTES));
        let (path, pending) = (notes_path(take), Arc::clone(&self.pending));
        pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.clone(), Notes { rating, notes });
        self.spawn(move |_| {
            // Held while writing: the newest is written last.
            let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(notes) = pending.remove(&path) else {
                return;
            };
            let text = serde_json::to_vec_pretty(&notes).unwrap_or_default();
            let temporary = path.with_extension("partial");
            if std::fs::write(&temporary, text).is_ok() {
                // A note that cannot be kept is still shown; the next one tries again.
                let _ = std::fs::rename(&temporary, &path);
            }
        });
    }

    /// Exports as the dialog says: a process of its own, so that a character that takes all memory does not take the
    /// window along.
    pub(super) fn export(&mut self, dialog: &Dialog) -> Option<Job> {
        let Dialog::Export {
            takes,
            formats,
            character,
            rate,
            folder,
        } = dialog
        else {
            return None;
        };
        let number = self.next;
        self.next += 1;
        let title = match takes.as_slice() {
            [one] => format!(
                "{} to {}",
                one.file_name().unwrap_or_default().to_string_lossy(),
                formats.join(", ")
            ),
            all => format!("{} takes to {}", all.len(), formats.join(", ")),
        };
        let job = Job {
            number,
            title,
            state: JobState::Running(0.0),
        };
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.arg("--json").arg("export").args(takes);
        command.arg("--format").arg(formats.join(","));
        command.arg("--character").arg(character);
        command.arg("--out").arg(folder);
        if !rate.trim().is_empty() {
            command.arg("--rate").arg(rate.trim());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        let spawned = command.spawn();
        let running = Arc::clone(&self.running);
        let mut told = job.clone();
        match spawned {
            Err(error) => told.state = JobState::Failed(format!("cannot start: {error}")),
            Ok(mut child) => {
                let out = child.stdout.take();
                let err = child.stderr.take();
                running
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((number, child));
                let mut following = job.clone();
                // Read at the same time: a full pipe of errors would stop the export.
                let errors = err.and_then(|errors| {
                    std::thread::Builder::new()
                        .name("export-err".into())
                        .spawn(move || std::io::read_to_string(errors).unwrap_or_default())
                        .ok()
                });
                self.spawn(move |tell| {
                    let files = follow(out, &mut following, tell);
                    let said = errors.and_then(|t| t.join().ok()).unwrap_or_default();
                    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
                    let child = running
                        .iter()
                        .position(|(n, _)| *n == number)
                        .map(|at| running.remove(at).1);
                    drop(running);
                    following.state = match child.map(|mut c| c.wait()) {
                        None => JobState::Cancelled,
                        Some(Ok(status)) if status.success() => {
                            JobState::Done(format!("{files} files"))
                        }
                        Some(Ok(status)) if status.code() == Some(3) => JobState::Done(format!(
                            "{files} files, with loss: {}",
                            last_line(&said)
                        )),
                        Some(_) => JobState::Failed(last_line(&said).to_owned()),
                    };
                    tell(Learned::Job(following));
                });
            }
        }
        Some(told)
    }

    /// Stops an export; files that are whole stay.
    pub(super) fn cancel(&self, number: u64) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = running.iter().position(|(n, _)| *n == number) {
            let (_, mut child) = running.remove(at);
            // One that has just ended needs no killing.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        for (_, child) in self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter_mut()
        {
            let _ = child.kill();
        }
    }
}

fn last_line(text: &str) -> &str {
    text.trim().lines().last().unwrap_or("no reason given")
}

/// Reads what an export says, and tells the share done; how many files it wrote.
fn follow(out: Option<impl std::io::Read>, job: &mut Job, tell: &dyn Fn(Learned)) -> usize {
    use std::io::BufRead as _;
    let mut files = 0;
    let Some(out) = out else {
        return 0;
    };
    for line in std::io::BufReader::new(out).lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else {
            continue;
        };
        match event["event"].as_str() {
            Some("export") => files += 1,
            Some("progress") => {
                let share = event["share"].as_f64().unwrap_or(0.0) as f32;
                job.state = JobState::Running(share.clamp(0.0, 1.0));
                tell(Learned::Job(job.clone()));
            }
            _ => {}
        }
    }
    files
}
