//! A hub in this process, and a phone that sends to it.

use std::{
    net::{SocketAddr, UdpSocket},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::{Builder, JoinHandle},
    time::Duration,
};

use hub::{FrameData, FrameRate, QualifiedFrameTime, SubjectName, arkit::NUM_CURVES};
use sources::{
    Protocol,
    livelinkface::{FaceSender, LiveLinkFaceDecoder},
    synthetic::Performer,
};

use crate::{
    HubClock,
    command::{Command, Record, Stop},
    desk::{
        Asked, Rows, Server,
        client::Client,
        message::{Finding, ToDesk},
    },
    session::{Reply, Session},
    stage::{SourceTable, Stage},
};

/// What desks have to know.
pub(super) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// How long something may take on a slow machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// A phone's frame rate.
const RATE: FrameRate = FrameRate::FPS_60;

/// Waits for something that other threads bring about.
#[track_caller]
pub(in crate::gui) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let clock = HubClock::new();
    while !is_so() {
        assert!(
            clock.now().as_secs_f64() < PATIENCE.as_secs_f64(),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A session that a phone may send to, at a free port of this machine alone.
pub(in crate::gui) fn session(folder: PathBuf) -> Session {
    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    let stage = Stage {
        sources: vec![SourceTable::new(Protocol::LiveLinkFace, here)],
        ..Stage::default()
    };
    Session::start(&stage, folder).unwrap()
}

/// Where phones send to.
pub(in crate::gui) fn face_addr(session: &Session) -> SocketAddr {
    session.live().listening()[0].addr
}

/// A hub with its own loop, as `serve` has.
pub(super) struct Running {
    pub(super) desk: SocketAddr,
    pub(super) face: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Running {
    pub(super) fn start(folder: PathBuf) -> Self {
        let (to, from) = sync_channel(1);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = Builder::new()
            .name("hub of a test".into())
            .spawn({
                let stop = Arc::clone(&stop);
                move || serve(folder, &to, &stop)
            })
            .unwrap();
        let (desk, face) = from.recv_timeout(PATIENCE).unwrap();
        Self {
            desk,
            face,
            stop,
            thread,
        }
    }

    /// A desk that was let in.
    pub(super) fn connect(&self) -> Client {
        Client::connect(self.desk, TOKEN, Box::new(|_| {})).unwrap()
    }

    /// Whether its loop has ended, by a desk's word.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap();
    }
}

fn serve(folder: PathBuf, told: &SyncSender<(SocketAddr, SocketAddr)>, stop: &AtomicBool) {
    let mut session = session(folder);
    let view = session.live().view();
    let server = Server::start(0, TOKEN.into(), "ghostlight of a test".into(), None, view).unwrap();
    told.send((server.addr(), face_addr(&session))).unwrap();
    let mut rows = Rows::default();
    let mut stops = false;
    while !stops {
        stops = stop.load(Ordering::Acquire);
        let asked: Vec<_> = server.asked().collect();
        for asked in asked {
            match asked {
                Asked::Command {
                    desk,
                    number,
                    command,
                } => {
                    let result = match session.command(command) {
                        Ok(Reply::Recording { slate, take, .. }) => Ok(format!("{slate} {take}")),
                        Ok(Reply::Done | Reply::Ended(_)) => Ok(String::new()),
                        Err(error) => Err(format!("{error:#}")),
                    };
                    server.answer(desk, ToDesk::Answer { number, result });
                }
                Asked::Diagnose { desk } => {
                    let finding = Finding {
                        layer: "subject".into(),
                        level: "problem".into(),
                        text: "nobody sends".into(),
                        steps: vec!["start the app".into()],
                    };
                    server.answer(desk, ToDesk::Diagnosis(vec![finding]));
                }
                Asked::New => {}
                Asked::Quit => stops = true,
            }
        }
        session.poll().unwrap();
        let snapshot = rows.snapshot(&session);
        server.snapshot(snapshot, rows.keys());
        std::thread::sleep(Duration::from_millis(20));
    }
    session.stop("operator").unwrap();
}

/// A phone with a moving face, until it is dropped.
pub(in crate::gui) struct Phone {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Phone {
    pub(in crate::gui) fn start(name: &str, to: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let name = SubjectName::new(name).unwrap();
        let thread = Builder::new()
            .name("phone of a test".into())
            .spawn({
                let stop = Arc::clone(&stop);
                move || send(&name, to, &stop)
            })
            .unwrap();
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A phone that failed shows in what did not arrive.
            let _ = thread.join();
        }
    }
}

fn send(name: &SubjectName, to: SocketAddr, stop: &AtomicBool) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let performer = Performer::new(7);
    let statics = LiveLinkFaceDecoder::static_data();
    let mut sender = FaceSender::new("phone of a test");
    let mut data = FrameData::basic(vec![0.0; NUM_CURVES]);
    let mut values = [0.0; NUM_CURVES];
    let clock = HubClock::new();
    let mut frame = 0i64;
    while !stop.load(Ordering::Acquire) {
        let due = RATE.nanos_of(frame);
        performer.face(due as f64 / 1e9, &mut values);
        data.properties.copy_from_slice(&values);
        // From one o'clock on.
        let time = QualifiedFrameTime::whole(3600 * 60 + frame, RATE);
        sender.frame(name, statics, Some(&data), time, |bytes| {
            // A hub that has ended hears nothing.
            let _ = socket.send_to(bytes, to);
        });
        frame += 1;
        let left = RATE.nanos_of(frame) - clock.now().as_nanos();
        std::thread::sleep(Duration::from_nanos(left.max(0).unsigned_abs()));
    }
}

/// Records a phone of this name for so many frames; the finished take.
pub(in crate::gui) fn a_take(folder: PathBuf, name: &str, frames: u64) -> PathBuf {
    let mut session = session(folder);
    let phone = Phone::start(name, face_addr(&session));
    until("the phone", || !session.live().states().is_empty());
    let record = Record {
        slate: Some("場面".into()),
        take: None,
    };
    session.command(Command::Record(record)).unwrap();
    until("frames", || {
        let recording = session.recording().unwrap();
        recording.recorder().tap().accepted_frames() >= frames
    });
    let Ok(Reply::Ended(ended)) = session.command(Command::Stop(Stop {})) else {
        panic!("no take");
    };
    drop(phone);
    assert_eq!(ended.trouble, None);
    ended.finished.path.clone()
}
