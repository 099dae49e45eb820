//! Records → subject events of Axis Neuron.

use std::net::SocketAddr;

use hub::{
    FrameBody, FrameData, FrameMeta, Skeleton, SourceId, StaticData, SubjectKey, SubjectName,
    WorldTime,
};

use super::{
    convert::{self, Options},
    packet::{NUM_BONES, Packet},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// An avatar that sends faster has its excess dropped. Axis sends 60 or 120 frames per second.
pub const MAX_PACKETS_PER_SEC: u32 = 480;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;

/// What is remembered of an avatar.
struct Avatar {
    source: SourceId,
    key: SubjectKey,
    /// The name in the header, as sent.
    told: Vec<u8>,
    /// Whether the skeleton was made with displacement; `None` before the first frame.
    with_displacement: Option<bool>,
    statics: StaticData,
    data: FrameData,
    meta: FrameMeta,
    announced: Option<WorldTime>,
    last_frame: Option<u32>,
    /// Whether the frame index goes up by one. Some senders leave it 0.
    is_counting: bool,
}

/// The sans-IO decoder of one socket.
pub struct AxisNeuronDecoder {
    options: Options,
    avatars: Streams<Avatar>,
}

impl AxisNeuronDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            avatars: Streams::new(MAX_PACKETS_PER_SEC),
        }
    }
}

impl Decoder for AxisNeuronDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let packet = Packet::parse(bytes)?;
        let options = &self.options;
        let identity = packet.avatar.to_le_bytes();
        let avatar = self.avatars.of(from, &identity, now, |is_twin| {
            let source = source_id("axisneuron", from, &packet.avatar.to_string(), is_twin);
            Ok(Avatar::new(source, &packet, options))
        })?;
        avatar.take(&packet, options, now, sink);
        Ok(())
    }
}

impl Avatar {
    fn new(source: SourceId, packet: &Packet<'_>, options: &Options) -> Self {
        let key = SubjectKey::new(source.clone(), subject_name(packet, options));
        Self {
            source,
            key,
            told: packet.name.to_vec(),
            with_displacement: None,
            statics: StaticData::animation(Skeleton::default()),
            data: FrameData {
                body: FrameBody::Animation(Vec::with_capacity(NUM_BONES)),
                properties: Vec::new(),
            },
            meta: FrameMeta::default(),
            announced: None,
            last_frame: None,
            is_counting: false,
        }
    }

    fn take(
        &mut self,
        packet: &Packet<'_>,
        options: &Options,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        if self.told != packet.name {
            self.rename(packet, options, now, sink);
        }
        if self.with_displacement != Some(packet.with_displacement) {
            self.with_displacement = Some(packet.with_displacement);
            self.statics = convert::static_data(packet, options);
            self.announced = None;
        }
        let rest = self
            .statics
            .skeleton()
            .map_or(&[][..], |s| s.rest.as_slice());
        if let FrameBody::Animation(locals) = &mut self.data.body {
            convert::write_pose(packet, rest, options, locals);
        }
        self.meta.arrival = now;
        self.meta.sequence = self.count(packet.frame);
        if self.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            self.announced = Some(now);
            sink.static_data(&self.key, &self.statics, now);
        }
        sink.frame(&self.key, &self.meta, Some(&self.data));
    }

    /// Another performer, perhaps: its lengths are taken anew.
    fn rename(
        &mut self,
        packet: &Packet<'_>,
        options: &Options,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        self.told = packet.name.to_vec();
        self.with_displacement = None;
        let name = subject_name(packet, options);
        if name != self.key.name {
            if self.announced.take().is_some() {
                sink.removed(&self.key, now);
            }
            self.key = SubjectKey::new(self.source.clone(), name);
        }
    }

    /// The frame index, if it can be trusted to number frames.
    fn count(&mut self, frame: Option<u32>) -> Option<u64> {
        let frame = frame?;
        if let Some(last) = self.last_frame.replace(frame) {
            match frame.wrapping_sub(last) {
                0 => self.is_counting = false,
                1 => self.is_counting = true,
                _ => {}
            }
        }
        self.is_counting.then_some(u64::from(frame))
    }
}

fn subject_name(packet: &Packet<'_>, options: &Options) -> SubjectName {
    let wanted = options.subject.as_deref().unwrap_or_default();
    let numbered = |name: &str| match packet.avatar {
        0 => SubjectName::from_wire(name.as_bytes()),
        n => SubjectName::from_wire(format!("{name} {n}").as_bytes()),
    };
    let wanted = if wanted.trim().is_empty() {
        SubjectName::from_wire(packet.name)
    } else {
        numbered(wanted)
    };
    wanted
        .or_else(|| numbered("Axis Neuron"))
        .unwrap_or_else(|| unreachable!("the default name is a name"))
}
