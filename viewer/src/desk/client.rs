//! The desk's side: a thread that reads what the hub says into a place where the window looks.

use std::{
    collections::VecDeque,
    io::{self, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, bail};
use hub::{FrameData, FrameMeta, StaticData, wire as records};

use super::{
    message::{Event, Finding, Snapshot, ToDesk, ToHub, VERSION},
    wire,
};
use crate::command::Command;

/// Answers and events that nobody has looked at yet; the oldest go.
const MAX_KEPT: usize = 256;
/// How long the hub may take to take a command.
const PATIENCE: Duration = Duration::from_secs(5);

/// A subject as the window sees it.
#[derive(Debug)]
pub struct Seen {
    /// See [`SubjectRow::id`](super::message::SubjectRow::id).
    pub id: u32,
    /// Names and hierarchy.
    pub statics: Arc<StaticData>,
    /// The values of the newest frame; `None` before the first.
    pub frame: Option<FrameData>,
    /// When and how it came.
    pub meta: FrameMeta,
    /// Counts frames.
    pub frames: u64,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command's number.
    pub number: u64,
    /// In words.
    pub result: Result<String, String>,
}

/// What the window finds when it looks.
#[derive(Debug, Default)]
pub struct Inbox {
    /// The newest state.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Watched subjects.
    pub seen: Vec<Seen>,
    /// Answers since the last look; take them.
    pub answers: VecDeque<Answer>,
    /// Events since the last look; take them.
    pub events: VecDeque<Event>,
    /// The last diagnosis.
    pub diagnosis: Option<Vec<Finding>>,
    /// The program that runs the hub.
    pub program: String,
    /// The hub said that it ends.
    pub is_over: bool,
}

/// Called when something came, on the thread that reads.
pub type Wake = Box<dyn Fn(Changed) + Send>;

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The state, an answer, an event.
    State,
    /// A frame of a watched subject.
    Frame,
    /// The connection ended.
    Gone,
}

/// A connection to a hub.
pub struct Client {
    socket: TcpStream,
    inbox: Arc<Mutex<Inbox>>,
    next: AtomicU64,
    gone: Arc<AtomicBool>,
}

impl Client {
    /// Connects and says hello.
    ///
    /// # Errors
    /// When there is no hub, or one of another version, or the token is not its own.
    pub fn connect(addr: SocketAddr, token: &str, wake: Wake) -> anyhow::Result<Self> {
        let mut socket = TcpStream::connect_timeout(&addr, PATIENCE)
            .with_context(|| format!("no hub answers on {addr}"))?;
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let hello = ToHub::Hello {
            version: VERSION,
            token: token.to_owned(),
        };
        wire::send_json(&mut socket, &hello)?;
        let mut payload = Vec::new();
        let kind = wire::read(&mut socket, &mut payload)
            .with_context(|| format!("the hub on {addr} does not answer"))?;
        let welcome = kind.map(|_| serde_json::from_slice::<ToDesk>(&payload));
        let Some(Ok(ToDesk::Welcome {
            version, program, ..
        })) = welcome
        else {
            bail!(
                "the hub on {addr} refused this desk: it is another version, or the token is another hub's"
            );
        };
        if version != VERSION {
            bail!("the hub on {addr} speaks version {version}; this desk speaks {VERSION}");
        }
        socket.set_read_timeout(None)?;
        let inbox = Arc::new(Mutex::new(Inbox {
            program,
            ..Inbox::default()
        }));
        let gone = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            socket: socket.try_clone()?,
            inbox: Arc::clone(&inbox),
            wake,
        };
        std::thread::Builder::new()
            .name("hub-in".into())
            .spawn({
                let gone = Arc::clone(&gone);
                move || {
                    // However it ended, the hub is gone.
                    let _ = reader.run();
                    gone.store(true, Ordering::Release);
                    (reader.wake)(Changed::Gone);
                }
            })
            .context("cannot start the thread that reads what the hub says")?;
        Ok(Self {
            socket,
            inbox,
            next: AtomicU64::new(1),
            gone,
        })
    }

    /// What came. Hold it briefly: reading waits.
    pub fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the connection has ended.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Gives a command; the number its answer will bear.
    ///
    /// # Errors
    /// When the hub cannot be told.
    pub fn command(&self, command: Command) -> io::Result<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.say(&ToHub::Command {
            number,
            command: Box::new(command),
        })?;
        Ok(number)
    }

    /// Says which subjects it wants to see, and how often.
    ///
    /// # Errors
    /// When the hub cannot be told.
    pub fn watch(&self, ids: Vec<u32>, per_sec: f32) -> io::Result<()> {
        self.inbox().seen.retain(|s| ids.contains(&s.id));
        self.say(&ToHub::Watch { ids, per_sec })
    }

    /// Asks why something does not move.
    ///
    /// # Errors
    /// When the hub cannot be told.
    pub fn diagnose(&self) -> io::Result<()> {
        self.say(&ToHub::Diagnose)
    }

    /// Ends the hub.
    ///
    /// # Errors
    /// When the hub cannot be told.
    pub fn quit(&self) -> io::Result<()> {
        self.say(&ToHub::Quit)
    }

    fn say(&self, message: &ToHub) -> io::Result<()> {
        let mut bytes = Vec::new();
        wire::put(wire::JSON, &serde_json::to_vec(message)?, &mut bytes);
        // One write, so that two threads' messages do not mix.
        (&self.socket).write_all(&bytes)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Ends the thread that reads.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }
}

struct Reader {
    socket: TcpStream,
    inbox: Arc<Mutex<Inbox>>,
    wake: Wake,
}

fn keep<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == MAX_KEPT {
        queue.pop_front();
    }
    queue.push_back(item);
}

impl Reader {
    fn run(&self) -> io::Result<()> {
        let mut from = io::BufReader::with_capacity(1 << 16, &self.socket);
        let mut payload = Vec::new();
        while let Some(kind) = wire::read(&mut from, &mut payload)? {
            let changed = match kind {
                wire::JSON => match serde_json::from_slice(&payload) {
                    Ok(message) => self.message(message),
                    Err(error) => return Err(error.into()),
                },
                wire::STATIC | wire::FRAME => self.record(kind, &payload),
                _ => continue,
            };
            (self.wake)(changed);
        }
        Ok(())
    }

    fn message(&self, message: ToDesk) -> Changed {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            ToDesk::Welcome { program, .. } => inbox.program = program,
            ToDesk::Snapshot(snapshot) => inbox.snapshot = Some(Arc::new(*snapshot)),
            ToDesk::Answer { number, result } => {
                keep(&mut inbox.answers, Answer { number, result });
            }
            ToDesk::Event(event) => keep(&mut inbox.events, event),
            ToDesk::Diagnosis(findings) => inbox.diagnosis = Some(findings),
            ToDesk::Bye => inbox.is_over = true,
        }
        Changed::State
    }

    fn record(&self, kind: u8, payload: &[u8]) -> Changed {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((id, record)) = wire::record(payload) else {
            return Changed::State;
        };
        let place = inbox.seen.iter().position(|s| s.id == id);
        if kind == wire::STATIC {
            if let Ok(statics) = records::read_static(record) {
                let seen = Seen {
                    id,
                    statics: Arc::new(statics),
                    frame: None,
                    meta: FrameMeta::default(),
                    frames: 0,
                };
                match place {
                    Some(place) => inbox.seen[place] = seen,
                    None => inbox.seen.push(seen),
                }
            }
            return Changed::State;
        }
        if let Some(seen) = place.and_then(|at| inbox.seen.get_mut(at)) {
            let mut frame = seen.frame.take().unwrap_or_default();
            let read = records::read_frame(record, &mut seen.meta, &mut frame);
            if read.is_ok() && frame.check(&seen.statics).is_ok() {
                seen.frame = Some(frame);
                seen.frames += 1;
            }
        }
        Changed::Frame
    }
}
