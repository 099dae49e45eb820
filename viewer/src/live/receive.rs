//! From a table of the stage to a running source: the right decoder on the right socket.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use anyhow::{Context as _, bail};
use hub::client::SourceSettings;
use sources::{
    Decoder, Protocol,
    axisneuron::AxisNeuronDecoder,
    facecap::FaceCapDecoder,
    framing::Framing,
    freed::FreedDecoder,
    ifacialmocap::IFacialMocapDecoder,
    json::JsonDecoder,
    livelinkface::LiveLinkFaceDecoder,
    mocopi::MocopiDecoder,
    native::NativeDecoder,
    natnet::NatNetDecoder,
    net::{
        listen::{Receiver, listen},
        socket::{self, BoundSocket},
        tcp::{self, BoundTcp, TcpReceiver},
    },
    openseeface::OpenSeeFaceDecoder,
    osc::OscDecoder,
    psn::PsnDecoder,
    rokoko::RokokoDecoder,
    stats::ListenStats,
    vmc::VmcDecoder,
    vtubestudio::VTubeStudioDecoder,
    xsens::XsensDecoder,
};

use super::{Listening, Shared, lock, shared::LiveSink};
use crate::{clock::HubClock, senders::Senders, stage::SourceTable};

/// What a source came in by.
enum Socket {
    Udp(BoundSocket),
    Tcp {
        bound: BoundTcp,
        framing: Framing,
        /// By which devices are asked to connect.
        trigger: Option<UdpSocket>,
    },
}

/// A source whose socket is bound, not yet received from.
pub(super) struct Source {
    socket: Socket,
    receiver: SocketReceiver,
    stop: Arc<AtomicBool>,
}

struct SocketReceiver {
    clock: HubClock,
    shared: Arc<Mutex<Shared>>,
    decoder: Box<dyn Decoder>,
    settings: SourceSettings,
    name: Arc<str>,
    stats: Arc<Mutex<ListenStats>>,
    senders: Arc<Mutex<Senders>>,
}

impl Source {
    /// Binds the socket of a source.
    ///
    /// # Errors
    /// When it cannot be bound, with what to do.
    pub(super) fn bind(
        source: &SourceTable,
        clock: HubClock,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<(Self, Listening)> {
        let (socket, addr, receive_buffer_bytes) = if let Some(framing) = source.framing() {
            let bound = tcp::bind(source.endpoint())?;
            let asks = source.face_transport() == sources::ifacialmocap::Transport::TcpText;
            let trigger = (source.kind == Protocol::IFacialMocap && asks)
                .then(|| UdpSocket::bind("0.0.0.0:0"))
                .transpose()
                .context("cannot open a socket to ask the phone by")?;
            let addr = bound.addr;
            let socket = Socket::Tcp {
                bound,
                framing,
                trigger,
            };
            // The system sizes the buffers of connections by itself.
            (socket, addr, 0)
        } else {
            let bound = socket::bind_with(source.addr(), source.group())?;
            let (addr, bytes) = (bound.addr, bound.receive_buffer_bytes);
            (Socket::Udp(bound), addr, bytes)
        };
        let listening = Listening {
            kind: source.kind,
            transport: source.transport,
            connects: source.connect.is_some(),
            addr,
            receive_buffer_bytes,
            stats: Arc::new(Mutex::default()),
            senders: Arc::new(Mutex::default()),
            stop: Arc::default(),
        };
        let receiver = SocketReceiver {
            clock,
            shared: Arc::clone(shared),
            decoder: decoder(source, addr)?,
            settings: source.settings,
            name: format!("{}/{addr}", source.kind).into(),
            stats: Arc::clone(&listening.stats),
            senders: Arc::clone(&listening.senders),
        };
        let stop = Arc::clone(&listening.stop);
        let source = Self {
            socket,
            receiver,
            stop,
        };
        Ok((source, listening))
    }

    /// Receives until its [`Listening`] says stop; a blocking task.
    pub(super) fn run(mut self) {
        let stop = &*self.stop;
        let receiver = &mut self.receiver;
        let ended = match &self.socket {
            Socket::Udp(bound) => listen(bound, receiver, stop),
            Socket::Tcp {
                bound,
                framing,
                trigger,
            } => tcp::serve_tcp(bound, *framing, trigger.as_ref(), receiver, stop),
        };
        if let Err(error) = ended {
            Receiver::socket_error(receiver, &error);
        }
    }
}

impl Receiver for SocketReceiver {
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        let now = self.clock.now();
        let mut shared = lock(&self.shared);
        if let Some(tap) = &shared.tap {
            tap.raw(&self.name, from, bytes, now);
        }
        let mut sink = LiveSink {
            shared: &mut shared,
            settings: self.settings,
        };
        let outcome = self.decoder.handle_datagram(now, from, bytes, &mut sink);
        drop(shared);
        lock(&self.stats).count(bytes.len(), &outcome);
        let mut senders = lock(&self.senders);
        senders.heard(from, &outcome, now);
        senders.keep(from, bytes, outcome.is_err());
    }

    fn socket_error(&mut self, _error: &io::Error) {
        lock(&self.stats).socket_errors += 1;
    }

    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.decoder.transmit(self.clock.now(), send);
    }
}

impl TcpReceiver for SocketReceiver {
    fn message(&mut self, from: SocketAddr, bytes: &[u8]) {
        self.datagram(from, bytes);
    }

    fn connected(&mut self, peer: SocketAddr) {
        self.decoder.connected(self.clock.now(), peer);
    }

    fn closed(&mut self, peer: SocketAddr) {
        self.decoder.closed(self.clock.now(), peer);
    }

    fn socket_error(&mut self, error: &io::Error) {
        Receiver::socket_error(self, error);
    }

    fn transmit(&mut self, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        Receiver::transmit(self, send);
    }
}

fn decoder(source: &SourceTable, bound: SocketAddr) -> anyhow::Result<Box<dyn Decoder>> {
    Ok(match source.kind {
        Protocol::File => bail!("a file has no socket"),
        Protocol::LiveLinkFace => Box::new(LiveLinkFaceDecoder::new(source.livelinkface)),
        Protocol::Native => Box::new(NativeDecoder::new()),
        Protocol::IFacialMocap => {
            let mut options = source.ifacialmocap.clone();
            options.transport = source.face_transport();
            // What greets a phone goes to the address that was connected to, and to no other.
            options.phone = source.connect.or(options.phone);
            Box::new(IFacialMocapDecoder::new(options))
        }
        Protocol::VTubeStudio => {
            let mut options = source.vtubestudio.clone();
            // The phone is told where to send to.
            options.port.get_or_insert(bound.port());
            Box::new(VTubeStudioDecoder::new(options))
        }
        Protocol::OpenSeeFace => Box::new(OpenSeeFaceDecoder::new(source.openseeface.clone())),
        Protocol::Vmc => Box::new(VmcDecoder::new(source.vmc.clone())),
        Protocol::Mocopi => Box::new(MocopiDecoder::new(source.mocopi.clone())),
        Protocol::Rokoko => Box::new(RokokoDecoder::new(source.rokoko.clone())),
        Protocol::Xsens => Box::new(XsensDecoder::new(source.xsens.clone())),
        Protocol::NatNet => Box::new(NatNetDecoder::new(source.natnet.clone())),
        Protocol::FreeD => Box::new(FreedDecoder::new(source.freed)),
        Protocol::Psn => Box::new(PsnDecoder::new(source.psn)),
        Protocol::AxisNeuron => Box::new(AxisNeuronDecoder::new(source.axisneuron.clone())),
        Protocol::FaceCap => Box::new(FaceCapDecoder::new(source.facecap.clone())),
        Protocol::Osc => Box::new(OscDecoder::new(&source.osc)),
        Protocol::Json => Box::new(JsonDecoder::new(&source.json)),
    })
}
