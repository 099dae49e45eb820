//! What an output says: one encoder per subject, and where the bytes go.

use hub::{
    FrameData, FrameMeta, QualifiedFrameTime, Role, StaticData, SubjectKey, SubjectName, Tracking,
    WorldTime, client::Quality,
};
use sources::{
    json::encode::{FrameHead, write_frame, write_removed, write_static},
    livelinkface::FaceSender,
    native::NativeSender,
    osc::encode::{OscEncoder, OscPrefix},
    vmc::VmcEncoder,
};

use super::{
    options::{OutputKind, Plan},
    stats::OutputStats,
    udp::Fan,
    websocket::Web,
};
use crate::HubClock;

/// What is kept for one subject. Our own format and JSON have one encoder for all.
pub(super) enum Encoder {
    Vmc(Box<VmcEncoder>),
    Face(Box<FaceSender>),
    Osc(Box<OscEncoder>),
    Shared,
}

/// A frame that goes out.
pub(super) struct Outgoing<'a> {
    pub(super) name: &'a SubjectName,
    /// Number of the subject on this output.
    pub(super) number: u32,
    /// Generation of its static data on this output.
    pub(super) generation: u32,
    pub(super) statics: &'a StaticData,
    pub(super) meta: &'a FrameMeta,
    /// `None` when the source sees nothing and gave no values.
    pub(super) data: Option<&'a FrameData>,
    pub(super) tracking: Tracking,
    pub(super) quality: Quality,
    /// On the hub's clock.
    pub(super) at: WorldTime,
    /// Of the frame, if there is any; the meta data has the same.
    pub(super) timecode: Option<QualifiedFrameTime>,
    /// The hub's own, for those that cannot do without.
    pub(super) hub_timecode: QualifiedFrameTime,
}

/// The one who speaks, for all subjects of an output.
pub(super) enum Sender {
    Vmc {
        fan: Fan,
        max_datagram: Option<usize>,
    },
    Face {
        fan: Fan,
    },
    Osc {
        fan: Fan,
        max_datagram: Option<usize>,
        prefix: OscPrefix,
    },
    Native {
        fan: Fan,
        native: Box<NativeSender>,
    },
    Web {
        web: Web,
        text: String,
        removed: String,
    },
}

impl Sender {
    /// # Errors
    /// When a WebSocket cannot listen.
    pub(super) fn start(plan: &Plan) -> anyhow::Result<Self> {
        let fan = Fan::new(&plan.to);
        let max_datagram = plan.max_datagram;
        Ok(match plan.kind {
            OutputKind::Vmc => Self::Vmc { fan, max_datagram },
            OutputKind::LiveLinkFace => Self::Face { fan },
            OutputKind::Osc => Self::Osc {
                fan,
                max_datagram,
                prefix: plan.prefix.clone(),
            },
            OutputKind::Native => {
                // Differs between runs, which is all that is asked of a session.
                let clock = HubClock::new();
                let session = clock.unix_nanos(clock.now()).cast_unsigned();
                Self::Native {
                    fan,
                    native: Box::new(NativeSender::new(session, &plan.name)),
                }
            }
            OutputKind::WebSocket => Self::Web {
                web: Web::start(&plan.name, plan.listen, plan.origins.clone())?,
                text: String::new(),
                removed: String::new(),
            },
        })
    }

    pub(super) fn encoder(&self, key: &SubjectKey) -> Encoder {
        match self {
            Self::Vmc { .. } => Encoder::Vmc(Box::default()),
            Self::Face { .. } => Encoder::Face(Box::new(FaceSender::new(key.name.as_str()))),
            Self::Osc { prefix, .. } => Encoder::Osc(Box::new(OscEncoder::new(prefix.clone()))),
            Self::Native { .. } | Self::Web { .. } => Encoder::Shared,
        }
    }

    /// Whether there is anything to say of such a subject.
    pub(super) fn fits(&self, statics: &StaticData) -> bool {
        match self {
            Self::Vmc { .. } => matches!(statics.role(), Role::Basic | Role::Animation),
            Self::Face { .. } => FaceSender::fits(statics),
            Self::Osc { .. } | Self::Native { .. } | Self::Web { .. } => true,
        }
    }

    /// Whether values that were held too long are sent. Another hub has a policy of its own for silence.
    pub(super) fn wants_stale(&self) -> bool {
        !matches!(self, Self::Native { .. })
    }

    /// A subject begins under a name, or its static data changed.
    pub(super) fn statics(
        &mut self,
        name: &SubjectName,
        number: u32,
        generation: u32,
        statics: &StaticData,
        at: WorldTime,
    ) {
        match self {
            Self::Native { fan, native } => {
                native.static_data(name, statics, at, |d| fan.send(at, d));
            }
            Self::Web { web, text, removed } => {
                write_static(text, name, generation, statics);
                write_removed(removed, name);
                web.board().put_static(number, text, removed);
            }
            Self::Vmc { .. } | Self::Face { .. } | Self::Osc { .. } => {}
        }
    }

    /// A subject ends, or is not sent any more under that name.
    pub(super) fn removed(&mut self, name: &SubjectName, number: u32, at: WorldTime) {
        match self {
            Self::Native { fan, native } => native.removed(name, |d| fan.send(at, d)),
            Self::Web { web, .. } => web.board().remove(number),
            Self::Vmc { .. } | Self::Face { .. } | Self::Osc { .. } => {}
        }
    }

    /// Sends a frame. False when there was nothing to say.
    pub(super) fn frame(&mut self, encoder: &mut Encoder, f: &Outgoing<'_>) -> bool {
        let at = f.at;
        match (self, encoder) {
            (Self::Vmc { fan, max_datagram }, Encoder::Vmc(encoder)) => {
                let Some(data) = f.data else {
                    return false;
                };
                let secs = at.as_secs_f64();
                encoder.frame(f.statics, data, secs, *max_datagram, |d| fan.send(at, d));
                true
            }
            (Self::Face { fan }, Encoder::Face(encoder)) => {
                let data = f.data.filter(|_| f.tracking == Tracking::Tracked);
                let time = f.timecode.unwrap_or(f.hub_timecode);
                encoder.frame(f.name, f.statics, data, time, |d| fan.send(at, d))
            }
            (
                Self::Osc {
                    fan, max_datagram, ..
                },
                Encoder::Osc(encoder),
            ) => {
                let Some(data) = f.data else {
                    return false;
                };
                let limit = *max_datagram;
                encoder.frame(f.name, f.statics, data, f.tracking, limit, |d| {
                    fan.send(at, d);
                })
            }
            (Self::Native { fan, native }, _) => {
                // Only a source that sees nothing may be without values, as the format has it.
                if f.data.is_none() && f.tracking == Tracking::Tracked {
                    return false;
                }
                native.frame(f.name, f.meta, f.data, at, |d| fan.send(at, d))
            }
            (Self::Web { web, text, .. }, _) => {
                let head = FrameHead {
                    generation: f.generation,
                    time: at,
                    timecode: f.timecode,
                    tracking: f.tracking,
                    quality: f.quality,
                };
                write_frame(text, f.name, &head, f.data);
                web.board().put_frame(f.number, text);
                true
            }
            // An encoder is made by the sender that uses it.
            _ => false,
        }
    }

    /// All of a tick has been said.
    pub(super) fn flush(&mut self) {
        if let Self::Web { web, .. } = self {
            web.board().tell();
        }
    }

    /// Writes down what became of it.
    pub(super) fn report(&self, stats: &mut OutputStats) {
        match self {
            Self::Vmc { fan, .. }
            | Self::Face { fan }
            | Self::Osc { fan, .. }
            | Self::Native { fan, .. } => stats.receivers = fan.stats(),
            Self::Web { web, .. } => {
                stats.receivers = web.stats();
                stats.refused = web.refused();
            }
        }
    }

    /// Where it listens, if it does.
    pub(super) fn listening(&self) -> Option<std::net::SocketAddr> {
        match self {
            Self::Web { web, .. } => Some(web.addr()),
            _ => None,
        }
    }
}
