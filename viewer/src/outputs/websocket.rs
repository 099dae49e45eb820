//! The JSON stream over WebSockets: a small server with a thread and a runtime of its own.
//!
//! Whoever may open a web page in this network could otherwise read a hub through it, so pages are told by
//! their `Origin`: see [`may_read`]. Programs that are no browsers send none. Connections are bounded, and one
//! that does not ask for a WebSocket soon is closed.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::Context as _;
use axum::{
    Router,
    body::Bytes,
    extract::{
        ConnectInfo, State, WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::any,
};
use sources::json::encode::write_hello;
use tokio::{
    net::TcpListener,
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    board::{Board, Reader},
    gate::{Door, Gate, Ticket},
    stats::ReceiverStats,
};

/// A page that takes no data for this long is disconnected.
const SEND_LIMIT: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(5);
/// Pings in a row that may stay unanswered.
const MAX_UNANSWERED: u32 = 3;
/// Longest message of a page; nothing of it is read.
const MAX_INCOMING: usize = 4096;
/// Time in which pages are told that the hub stops.
const GOODBYE: Duration = Duration::from_millis(50);

/// A running server.
pub(super) struct Web {
    app: Arc<App>,
    addr: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

struct App {
    board: Board,
    hello: Utf8Bytes,
    origins: Vec<String>,
    is_on_loopback: bool,
    stop: watch::Sender<bool>,
    door: Arc<Door>,
    pages: Mutex<Vec<Arc<Page>>>,
}

/// One page that is connected.
struct Page {
    from: SocketAddr,
    sent: AtomicU64,
    skipped: AtomicU64,
}

impl Web {
    /// Listens, and starts the thread that serves.
    pub(super) fn start(
        name: &str,
        listen: SocketAddr,
        origins: Vec<String>,
    ) -> anyhow::Result<Self> {
        let context = || format!("output {name} cannot listen on {listen}");
        let listener = std::net::TcpListener::bind(listen).with_context(context)?;
        listener.set_nonblocking(true).with_context(context)?;
        let addr = listener.local_addr().with_context(context)?;
        let mut hello = String::new();
        write_hello(&mut hello, "ghostlight", env!("CARGO_PKG_VERSION"));
        let app = Arc::new(App {
            board: Board::new(),
            hello: hello.into(),
            origins,
            is_on_loopback: addr.ip().is_loopback(),
            stop: watch::Sender::new(false),
            door: Arc::default(),
            pages: Mutex::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .with_context(context)?;
        let shared = Arc::clone(&app);
        let thread = std::thread::Builder::new()
            .name(format!("web-{name}"))
            .spawn(move || runtime.block_on(serve(listener, shared)))
            .with_context(context)?;
        Ok(Self {
            app,
            addr,
            thread: Some(thread),
        })
    }

    pub(super) fn board(&self) -> &Board {
        &self.app.board
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Connections that were turned away.
    pub(super) fn refused(&self) -> u64 {
        self.app.door.refused()
    }

    /// Pages that are connected.
    pub(super) fn stats(&self) -> Vec<ReceiverStats> {
        let stats = |page: &Arc<Page>| ReceiverStats {
            sent: page.sent.load(Ordering::Relaxed),
            skipped: page.skipped.load(Ordering::Relaxed),
            ..ReceiverStats::new(page.from.to_string())
        };
        self.app.pages().iter().map(stats).collect()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.app.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has been told by the thread itself.
            let _ = thread.join();
        }
    }
}

impl App {
    fn pages(&self) -> MutexGuard<'_, Vec<Arc<Page>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(listener: std::net::TcpListener, app: Arc<App>) {
    // Fails only without a runtime, and this is one.
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let mut stop = app.stop.subscribe();
    let gate = Gate {
        listener,
        door: Arc::clone(&app.door),
    };
    let router = Router::new().route("/", any(welcome)).with_state(app);
    let server = axum::serve(gate, router.into_make_service_with_connect_info::<Ticket>());
    if *stop.borrow() {
        return;
    }
    tokio::select! {
        _ = server.into_future() => {}
        _ = stop.changed() => sleep(GOODBYE).await,
    }
}

/// Whether a page of that origin may read the stream.
///
/// Pages of this machine (`http://localhost:3000`) always may, and those that the operator listed, or all with
/// `*`. A hub that listens to the network also lets in pages that come from its own address, written as
/// numbers: a name could be anybody's who lets it point here. `null`, the origin of a file that was opened, is
/// also that of any hidden frame, so it must be listed.
fn may_read(origin: &str, host: Option<&str>, is_on_loopback: bool, listed: &[String]) -> bool {
    let is_listed = |o: &String| o == "*" || o.eq_ignore_ascii_case(origin);
    if listed.iter().any(is_listed) {
        return true;
    }
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    if !matches!(scheme, "http" | "https") {
        return false;
    }
    let name = host_of(authority);
    let number: Option<IpAddr> = name.parse().ok();
    if name.eq_ignore_ascii_case("localhost") || number.is_some_and(|n| n.is_loopback()) {
        return true;
    }
    !is_on_loopback && number.is_some() && host.is_some_and(|h| host_of(h) == name)
}

/// The host of `host:port` or `[v6]:port`, without brackets.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    }
}

async fn welcome(
    State(app): State<Arc<App>>,
    ConnectInfo(ticket): ConnectInfo<Ticket>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    if let Some(origin) = headers.get(header::ORIGIN) {
        let allowed = origin
            .to_str()
            .is_ok_and(|o| may_read(o, host, app.is_on_loopback, &app.origins));
        if !allowed {
            app.door.refuse();
            let why = "this page may not read the stream; list its origin in the stage file\n";
            return (StatusCode::FORBIDDEN, why).into_response();
        }
    }
    ticket.admit();
    let from = ticket.from;
    upgrade
        .max_message_size(MAX_INCOMING)
        .max_frame_size(MAX_INCOMING)
        .on_upgrade(move |socket| attend(socket, app, from))
}

/// Takes a page off the list when it leaves, however it leaves.
struct Visit {
    app: Arc<App>,
    page: Arc<Page>,
}

impl Visit {
    fn new(app: Arc<App>, from: SocketAddr) -> Self {
        let page = Arc::new(Page {
            from,
            sent: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        });
        app.pages().push(Arc::clone(&page));
        Self { app, page }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.app.pages().retain(|p| !Arc::ptr_eq(p, &self.page));
    }
}

/// Tells one page everything, until one of both goes.
async fn attend(mut socket: WebSocket, app: Arc<App>, from: SocketAddr) {
    let visit = Visit::new(app, from);
    let app = &visit.app;
    let mut stop = app.stop.subscribe();
    // Whoever came after the signal has not seen it.
    if *stop.borrow() {
        return;
    }
    if !say(&mut socket, Message::Text(app.hello.clone())).await {
        return;
    }
    let mut news = app.board.news();
    let mut reader = Reader::default();
    let mut messages: Vec<Utf8Bytes> = Vec::new();
    let mut ping = tokio::time::interval(PING_EVERY);
    let mut unanswered = 0;
    loop {
        tokio::select! {
            changed = news.changed() => {
                if changed.is_err() {
                    return;
                }
                let missed = app.board.read(&mut reader, &mut messages);
                visit.page.skipped.fetch_add(missed, Ordering::Relaxed);
                for message in messages.drain(..) {
                    if !say(&mut socket, Message::Text(message)).await {
                        return;
                    }
                    visit.page.sent.fetch_add(1, Ordering::Relaxed);
                }
            }
            heard = socket.recv() => match heard {
                // Only that it lives counts.
                Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {
                    unanswered = 0;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            },
            _ = ping.tick() => {
                unanswered += 1;
                let is_alive = unanswered <= MAX_UNANSWERED;
                if !is_alive || !say(&mut socket, Message::Ping(Bytes::new())).await {
                    return;
                }
            }
            _ = stop.changed() => {
                say(&mut socket, Message::Close(None)).await;
                return;
            }
        }
    }
}

/// Sends, and says whether it went.
async fn say(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SEND_LIMIT, socket.send(message)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_machine_and_listed_ones_may_read() {
        let listed = ["https://stage.example".to_owned(), "null".to_owned()];
        for (origin, expected) in [
            ("http://localhost", true),
            ("http://localhost:3000", true),
            ("https://127.0.0.1:8443", true),
            ("http://[::1]:80", true),
            ("https://stage.example", true),
            ("https://STAGE.example", true),
            ("null", true),
            ("https://evil.example", false),
            ("http://stage.example", false),
            ("http://localhost.evil.example", false),
            ("http://localhost@evil.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("chrome-extension://localhost", false),
            ("localhost", false),
            ("", false),
        ] {
            let host = Some("127.0.0.1:11212");
            assert_eq!(may_read(origin, host, true, &listed), expected, "{origin}");
        }
        assert!(!may_read("null", None, true, &[]));
        assert!(may_read(
            "https://evil.example",
            None,
            true,
            &["*".to_owned()]
        ));
    }

    #[test]
    fn a_hub_on_the_network_lets_in_pages_of_its_own_address_but_of_no_name() {
        let check = |origin, host| may_read(origin, Some(host), false, &[]);
        assert!(check("http://192.168.1.5:8080", "192.168.1.5:11212"));
        assert!(check("http://[fe80::1]", "[fe80::1]:11212"));
        assert!(!check("http://192.168.1.6", "192.168.1.5:11212"));
        // A name that was made to point here.
        assert!(!check("http://evil.example", "evil.example:11212"));
        assert!(!may_read(
            "http://192.168.1.5",
            Some("192.168.1.5:11212"),
            true,
            &[]
        ));
    }
}
