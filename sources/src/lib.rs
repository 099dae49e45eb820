//! Sources: what capture devices send, turned into subject events of the [`hub`].
//!
//! A protocol is a room: `packet` (bytes ↔ records), `decode` (records → subject events), `convert`
//! (their axes and units → the house frame). Decoders know no socket and no clock; `net` holds the sockets.

pub mod artnet;
pub mod axisneuron;
pub mod bvh;
pub mod clip;
pub mod error;
pub mod facecap;
pub mod faults;
pub mod framing;
pub mod freed;
pub mod ifacialmocap;
pub mod json;
pub mod livelinkface;
pub mod ltc;
pub mod mocopi;
pub mod mtc;
mod named_curves;
pub mod native;
pub mod natnet;
pub mod net;
pub mod openseeface;
pub mod osc;
mod pose;
pub mod psn;
mod rate_text;
mod reader;
pub mod rokoko;
pub mod stats;
mod streams;
pub mod synthetic;
pub mod trigger;
pub mod vmc;
pub mod vtubestudio;
pub mod xsens;

use std::{fmt, net::SocketAddr, str::FromStr};

use hub::{FrameData, FrameMeta, StaticData, SubjectKey, WorldTime};

pub use error::Reject;

/// Takes what a decoder finds. Everything is lent: the receiver copies what it keeps.
pub trait Sink {
    /// Static data of a subject: on connect, on change, and again now and then.
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, at: WorldTime);

    /// A frame; without data only when tracking is lost.
    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>);

    /// The source said that the subject ends.
    fn removed(&mut self, key: &SubjectKey, at: WorldTime);
}

/// Bytes of one protocol to subject events. Sans-IO: told the time, told the bytes.
pub trait Decoder: Send {
    /// Takes one datagram. Gives all its events or one error; an error leaves no half-changed state.
    ///
    /// # Errors
    /// Why the datagram was left out.
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject>;

    /// A TCP connection is open; its messages come by [`Self::handle_datagram`] with this peer.
    fn connected(&mut self, now: WorldTime, peer: SocketAddr) {
        let _ = (now, peer);
    }

    /// A TCP connection is over.
    fn closed(&mut self, now: WorldTime, peer: SocketAddr) {
        let _ = (now, peer);
    }

    /// Sends what the protocol asks for (a handshake, a keep-alive), from the very socket that receives.
    /// Called after each datagram and at least every 50 ms; the decoder keeps to its own bounded rate.
    fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let _ = (now, send);
    }
}

macro_rules! protocols {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $port:expr;)*) => {
        /// The protocols this build listens to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Protocol {
            $($(#[$doc])* $name,)*
        }

        impl Protocol {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word for it in `--source` and stage files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// The port its devices send to unless told otherwise.
            pub fn default_port(self) -> u16 {
                match self {
                    $(Self::$name => $port,)*
                }
            }
        }
    };
}

protocols! {
    /// Live Link Face, ARKit mode.
    LiveLinkFace = "livelinkface", livelinkface::PORT;
    /// Our own wire format.
    Native = "native", native::PORT;
    /// iFacialMocap and Facemotion3d, text and Face Motion v3.
    IFacialMocap = "ifacialmocap", ifacialmocap::PORT;
    /// VTube Studio on a phone, and MeowFace.
    VTubeStudio = "vtubestudio", vtubestudio::PORT;
    /// OpenSeeFace.
    OpenSeeFace = "openseeface", openseeface::PORT;
    /// VMC protocol, performer to marionette.
    Vmc = "vmc", vmc::PORT;
    /// Sony mocopi.
    Mocopi = "mocopi", mocopi::PORT;
    /// Rokoko Studio custom stream.
    Rokoko = "rokoko", rokoko::PORT;
    /// Xsens MVN network streamer.
    Xsens = "xsens", xsens::PORT;
    /// OptiTrack NatNet.
    NatNet = "natnet", natnet::PORT;
    /// FreeD D1 cameras.
    FreeD = "freed", freed::PORT;
    /// PosiStageNet trackers.
    Psn = "psn", psn::PORT;
    /// Axis Neuron and Axis Studio, binary BVH broadcast.
    AxisNeuron = "axisneuron", axisneuron::PORT;
    /// A motion file, played by the program itself; no socket.
    File = "file", 0;
    /// Face Cap.
    FaceCap = "facecap", facecap::PORT;
    /// Any program that sends OSC, by a mapping.
    Osc = "osc", osc::PORT;
    /// Any program that sends JSON, by a mapping.
    Json = "json", json::PORT;
}

impl Protocol {
    /// What a hub listens to when nobody says anything: what needs no address of a device.
    pub const USUAL: [Self; 2] = [Self::LiveLinkFace, Self::Native];

    /// The multicast group its devices address unless told otherwise.
    pub fn default_group(self) -> Option<std::net::Ipv4Addr> {
        match self {
            Self::Psn => Some(psn::GROUP),
            Self::NatNet => Some(natnet::MULTICAST),
            _ => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|p| p.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                let known: Vec<_> = Self::ALL.iter().map(|p| p.as_str()).collect();
                let known = known.join(", ");
                format!("unknown source kind {text:?}; known kinds: {known}")
            })
    }
}
