//! The hub's side: one thread that lets desks in, two for each desk. None of them is ever waited for.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use anyhow::Context as _;
use hub::{
    FrameData, StaticData, SubjectKey, WorldTime,
    client::{At, Evaluated, Quality},
    wire::Encoder,
};

use super::{
    message::{Snapshot, ToDesk, ToHub, VERSION},
    wire,
};
use crate::{command::Command, outputs::StageView};

/// Most desks at once.
const MAX_DESKS: usize = 4;
/// Most connections at once that have not said hello yet.
const MAX_STRANGERS: u64 = 16;
/// Messages that wait for a desk, beside frames. What finds no room is left out.
const MAX_WAITING: usize = 64;
/// Commands that wait for the hub, of all desks.
const MAX_COMMANDS: usize = 64;
/// How long a desk that reads nothing is written to before it is let go.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long a stranger may take to say hello.
const HELLO: Duration = Duration::from_secs(2);
/// Most subjects that a desk may watch.
const MAX_WATCHED: usize = 512;
/// Most frames per second and subject.
const MAX_PER_SEC: f32 = 120.0;

/// What a desk asks of whoever runs the hub.
pub(crate) enum Asked {
    /// Do this; answer with [`Server::answer`].
    Command {
        /// Which desk.
        desk: u64,
        /// Its number for it.
        number: u64,
        /// What to do.
        command: Command,
    },
    /// Say why something does not move.
    Diagnose {
        /// Which desk.
        desk: u64,
    },
    /// A desk is new: it needs a snapshot.
    New,
    /// Stop the hub.
    Quit,
}

/// What desks and the hub's loop share.
struct Common {
    view: Arc<dyn StageView>,
    token: String,
    welcome: ToDesk,
    /// Subjects by number.
    keys: Mutex<HashMap<u32, SubjectKey>>,
    desks: Mutex<Vec<Desk>>,
    asked: SyncSender<Asked>,
    stop: AtomicBool,
    left_out: AtomicU64,
    /// Connections that have not said hello yet.
    strangers: AtomicU64,
}

/// A desk that was let in.
struct Desk {
    number: u64,
    to: SyncSender<Arc<ToDesk>>,
    socket: TcpStream,
}

/// The side of a hub that desks talk to.
pub(crate) struct Server {
    common: Arc<Common>,
    addr: SocketAddr,
    asked: Receiver<Asked>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Listens on loopback, at a free port when `port` is 0.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub(crate) fn start(
        port: u16,
        token: String,
        program: String,
        stage: Option<std::path::PathBuf>,
        view: Arc<dyn StageView>,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen for desks on port {port}"))?;
        let addr = listener.local_addr()?;
        let (send, asked) = sync_channel(MAX_COMMANDS);
        let common = Arc::new(Common {
            view,
            token,
            welcome: ToDesk::Welcome {
                version: VERSION,
                program,
                stage,
            },
            keys: Mutex::default(),
            desks: Mutex::default(),
            asked: send,
            stop: AtomicBool::new(false),
            left_out: AtomicU64::new(0),
            strangers: AtomicU64::new(0),
        });
        std::thread::Builder::new()
            .name("desks".into())
            .spawn({
                let common = Arc::clone(&common);
                move || accept(&listener, &common)
            })
            .context("cannot start the thread that lets desks in")?;
        Ok(Self {
            common,
            addr,
            asked,
        })
    }

    /// Where it listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What desks asked since the last look.
    pub(crate) fn asked(&self) -> impl Iterator<Item = Asked> {
        // A desk that floods is not listened to for ever.
        self.asked.try_iter().take(MAX_COMMANDS)
    }

    /// Whether anybody is there to be told.
    pub(crate) fn has_desks(&self) -> bool {
        !lock(&self.common.desks).is_empty()
    }

    /// Tells all desks.
    pub(crate) fn tell(&self, message: ToDesk) {
        let message = Arc::new(message);
        for desk in lock(&self.common.desks).iter() {
            self.common.give(desk, &message);
        }
    }

    /// Tells all desks the state, and takes note of the subjects' numbers.
    pub(crate) fn snapshot(&self, snapshot: Snapshot, keys: HashMap<u32, SubjectKey>) {
        *lock(&self.common.keys) = keys;
        self.tell(ToDesk::Snapshot(Box::new(snapshot)));
    }

    /// Answers one desk.
    pub(crate) fn answer(&self, desk: u64, message: ToDesk) {
        let message = Arc::new(message);
        for desk in lock(&self.common.desks).iter().filter(|d| d.number == desk) {
            self.common.give(desk, &message);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tell(ToDesk::Bye);
        self.common.stop.store(true, Ordering::Release);
        // Wakes the thread that lets desks in.
        let _ = TcpStream::connect_timeout(&self.addr, Duration::from_millis(200));
        // Until they have heard it; a desk that hangs is not waited for.
        for _ in 0..10 {
            if !self.has_desks() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Common {
    fn give(&self, desk: &Desk, message: &Arc<ToDesk>) {
        match desk.to.try_send(Arc::clone(message)) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                self.left_out.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn accept(listener: &TcpListener, common: &Arc<Common>) {
    let mut number = 0;
    for socket in listener.incoming() {
        if common.stop.load(Ordering::Acquire) {
            return;
        }
        let Ok(socket) = socket else {
            // Too many open files, say: a moment later there may be room.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let is_full = lock(&common.desks).len() >= MAX_DESKS;
        if is_full || common.strangers.load(Ordering::Relaxed) >= MAX_STRANGERS {
            continue;
        }
        common.strangers.fetch_add(1, Ordering::Relaxed);
        number += 1;
        let common = Arc::clone(common);
        let counted = Arc::clone(&common);
        // Without a thread this desk is not let in; it tries again.
        let started = std::thread::Builder::new()
            .name("desk-in".into())
            .spawn(move || {
                // A desk that breaks off is gone; that is all there is to say.
                let _ = let_in(socket, number, &common);
                lock(&common.desks).retain(|d| d.number != number);
            });
        if started.is_err() {
            counted.strangers.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Reads what a desk says until it ends.
fn let_in(mut socket: TcpStream, number: u64, common: &Arc<Common>) -> io::Result<()> {
    let is_known = says_hello(&mut socket, common);
    common.strangers.fetch_sub(1, Ordering::Relaxed);
    if !is_known? {
        return Ok(());
    }
    let mut payload = Vec::new();
    socket.set_read_timeout(None)?;
    let (to, from) = sync_channel(MAX_WAITING);
    let watched = Arc::new(Mutex::new(Watched::default()));
    lock(&common.desks).push(Desk {
        number,
        to: to.clone(),
        socket: socket.try_clone()?,
    });
    // The first message has room.
    let _ = to.try_send(Arc::new(common.welcome.clone()));
    std::thread::Builder::new().name("desk-out".into()).spawn({
        let (socket, common, watched) = (
            socket.try_clone()?,
            Arc::clone(common),
            Arc::clone(&watched),
        );
        move || {
            let mut out = Out::new(socket, common, watched);
            // What cannot be written any more ends this desk.
            let _ = out.run(&from);
            let _ = out.socket.shutdown(std::net::Shutdown::Both);
        }
    })?;
    let ask = |asked| common.asked.send(asked).is_ok();
    if !ask(Asked::New) {
        return Ok(());
    }
    while let Some(kind) = wire::read(&mut socket, &mut payload)? {
        let message = (kind == wire::JSON).then(|| serde_json::from_slice::<ToHub>(&payload));
        let goes_on = match message {
            Some(Ok(ToHub::Command {
                number: of,
                command,
            })) => ask(Asked::Command {
                desk: number,
                number: of,
                command: *command,
            }),
            Some(Ok(ToHub::Watch { mut ids, per_sec })) => {
                ids.truncate(MAX_WATCHED);
                let mut watched = lock(&watched);
                watched.ids = ids;
                watched.per_sec = if per_sec.is_finite() {
                    per_sec.clamp(0.0, MAX_PER_SEC)
                } else {
                    0.0
                };
                watched.changes += 1;
                true
            }
            Some(Ok(ToHub::Diagnose)) => ask(Asked::Diagnose { desk: number }),
            Some(Ok(ToHub::Quit)) => ask(Asked::Quit),
            Some(Ok(ToHub::Hello { .. }) | Err(_)) | None => false,
        };
        if !goes_on {
            break;
        }
    }
    if let Some(desk) = lock(&common.desks).iter().find(|d| d.number == number) {
        let _ = desk.socket.shutdown(std::net::Shutdown::Both);
    }
    Ok(())
}

/// Whether the first word is the right one.
fn says_hello(socket: &mut TcpStream, common: &Common) -> io::Result<bool> {
    socket.set_read_timeout(Some(HELLO))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)?;
    let mut payload = Vec::new();
    let hello = wire::read(socket, &mut payload)?;
    Ok(hello == Some(wire::JSON)
        && matches!(
            serde_json::from_slice(&payload),
            Ok(ToHub::Hello { version: VERSION, ref token }) if same(token, &common.token)
        ))
}

/// Compares in a time that does not tell how much was right.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .fold(0, |all, (a, b)| all | (a ^ b))
            == 0
}

/// What a desk wants to see.
#[derive(Default)]
struct Watched {
    ids: Vec<u32>,
    per_sec: f32,
    changes: u64,
}

/// One watched subject as it was told.
struct Told {
    id: u32,
    key: SubjectKey,
    statics: Option<Arc<StaticData>>,
    /// Values of the last answer: nothing is told twice. A pose that is held has another quality at each look.
    shown: Option<FrameData>,
}

/// Writes to one desk.
struct Out {
    socket: TcpStream,
    common: Arc<Common>,
    watched: Arc<Mutex<Watched>>,
    changes: u64,
    told: Vec<Told>,
    evaluated: Evaluated,
    encoder: Encoder,
    bytes: Vec<u8>,
}

impl Out {
    fn new(socket: TcpStream, common: Arc<Common>, watched: Arc<Mutex<Watched>>) -> Self {
        Self {
            socket,
            common,
            watched,
            changes: 0,
            told: Vec::new(),
            evaluated: Evaluated::default(),
            encoder: Encoder::default(),
            bytes: Vec::new(),
        }
    }

    fn run(&mut self, from: &Receiver<Arc<ToDesk>>) -> io::Result<()> {
        let mut next = self.common.view.now();
        loop {
            let per_sec = self.follow();
            let now = self.common.view.now();
            let wait = if per_sec > 0.0 && !self.told.is_empty() {
                Duration::from_nanos((next - now).max(0).unsigned_abs())
            } else {
                Duration::from_millis(100)
            };
            self.bytes.clear();
            match from.recv_timeout(wait) {
                Ok(message) => {
                    let is_end = matches!(*message, ToDesk::Bye);
                    wire::put(wire::JSON, &serde_json::to_vec(&*message)?, &mut self.bytes);
                    self.socket.write_all(&self.bytes)?;
                    if is_end {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.common.view.now();
            if per_sec > 0.0 && now >= next {
                // After a hold the missed ticks are left out.
                let period = (1e9 / f64::from(per_sec)) as i64;
                next = next + period;
                if next < now {
                    next = now + period;
                }
                self.bytes.clear();
                self.frames(now);
                self.socket.write_all(&self.bytes)?;
            }
        }
    }

    /// Follows what the desk wants to see; frames per second.
    fn follow(&mut self) -> f32 {
        let watched = lock(&self.watched);
        if watched.changes != self.changes {
            let is_next = self.changes + 1 == watched.changes;
            self.changes = watched.changes;
            let keys = lock(&self.common.keys);
            let old = std::mem::take(&mut self.told);
            self.told = watched
                .ids
                .iter()
                .filter_map(|id| {
                    Some(Told {
                        id: *id,
                        key: keys.get(id)?.clone(),
                        statics: None,
                        shown: None,
                    })
                })
                .collect();
            // The desk forgets at every change; one that was skipped may have left a subject out.
            for mut before in old.into_iter().filter(|_| is_next) {
                if let Some(told) = self.told.iter_mut().find(|t| t.id == before.id) {
                    told.statics = before.statics.take();
                }
            }
        }
        watched.per_sec
    }

    fn frames(&mut self, now: WorldTime) {
        let (evaluated, encoder, bytes) = (&mut self.evaluated, &mut self.encoder, &mut self.bytes);
        for told in &mut self.told {
            let mut statics = None;
            let mut quality = Quality::None;
            self.common.view.with_client(&mut |client| {
                let Some(view) = client.subject(&told.key) else {
                    return;
                };
                statics = Some(Arc::clone(view.statics()));
                if let Some(id) = client.find(&told.key) {
                    quality = client
                        .evaluate_at(id, At::World(now), now, evaluated)
                        .quality;
                }
            });
            let Some(statics) = statics else {
                told.statics = None;
                continue;
            };
            let is_known = told
                .statics
                .as_ref()
                .is_some_and(|known| Arc::ptr_eq(known, &statics));
            if !is_known {
                wire::put_record(wire::STATIC, told.id, bytes, |out| {
                    encoder.static_data(&statics, out);
                });
                told.statics = Some(statics);
                told.shown = None;
            }
            if quality == Quality::None || told.shown.as_ref() == Some(&evaluated.data) {
                continue;
            }
            match &mut told.shown {
                Some(shown) => shown.clone_from(&evaluated.data),
                None => told.shown = Some(evaluated.data.clone()),
            }
            wire::put_record(wire::FRAME, told.id, bytes, |out| {
                encoder.frame(&evaluated.meta, Some(&evaluated.data), out);
            });
        }
    }
}
