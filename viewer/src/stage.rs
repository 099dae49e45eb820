//! The stage file: what listens where, how subjects are treated, where takes go.
//!
//! ```toml
//! [hub]
//! record_folder = "takes"          # default "takes"
//! timecode_rate = "30"             # of the hub's own time of day, default 60
//!
//! [[source]]
//! kind = "livelinkface"            # or native, vmc, mocopi, …: `--help` of --source names them
//! listen = "0.0.0.0:11111"         # port 0 picks a free one
//! [source.settings]                # buffering, all optional
//! world_offset_secs = 0.05
//! [source.livelinkface]            # about the senders, all optional
//! rotation_unit = "half_turns"
//!
//! [[subject]]
//! name = "iPhone"
//! enabled = false
//! source = "livelinkface/192.168.1.7"  # which phone plays, if several have the name
//! ```

use std::{
    net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use hub::{
    FrameRate,
    client::SourceSettings,
    process::{Chain, Step},
    virtuals::{VirtualSpec, check_cycles},
};
use serde::Deserialize;
use sources::{
    Protocol, axisneuron, facecap,
    framing::Framing,
    freed, ifacialmocap, json, livelinkface, mocopi, natnet,
    net::{socket::Multicast, tcp::TcpEndpoint},
    openseeface, osc, psn, rokoko, vmc, vtubestudio, xsens,
};

use crate::{
    audio::AudioOptions, cast::CharacterTable, file_source::FileOptions,
    timecode_in::TimecodeOptions,
};
pub use crate::{
    outputs::OutputOptions as OutputTable,
    remote::{PhoneTable, RemoteOptions, RemoteTable, TriggerTable},
};

/// A stage as read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stage {
    /// The hub itself.
    pub hub: HubTable,
    /// What listens.
    #[serde(rename = "source")]
    pub sources: Vec<SourceTable>,
    /// What is known of subjects beforehand.
    #[serde(rename = "subject")]
    pub subjects: Vec<SubjectTable>,
    /// Subjects made of others.
    #[serde(rename = "virtual")]
    pub virtuals: Vec<VirtualSpec>,
    /// Characters, and who drives them.
    #[serde(rename = "character")]
    pub characters: Vec<CharacterTable>,
    /// Sound recorded with every take.
    pub audio: Vec<AudioOptions>,
    /// What is sent on.
    #[serde(rename = "output")]
    pub outputs: Vec<OutputTable>,
    /// Where the hub's timecode comes from.
    pub timecode: TimecodeOptions,
    /// Phones under remote control.
    #[serde(rename = "phone")]
    pub phones: Vec<PhoneTable>,
    /// Where phones answer.
    pub remote: RemoteTable,
    /// Record triggers of other devices, in and out.
    pub trigger: TriggerTable,
}

/// The table `[hub]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HubTable {
    /// Folder for takes.
    pub record_folder: PathBuf,
    /// Rate of the hub's own time of day.
    #[serde(deserialize_with = "rate")]
    pub timecode_rate: FrameRate,
    /// Whether `serve` makes the hub known on the network by mDNS.
    pub mdns: bool,
}

impl Default for HubTable {
    fn default() -> Self {
        Self {
            record_folder: "takes".into(),
            timecode_rate: FrameRate::FPS_60,
            mdns: true,
        }
    }
}

/// What carries a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Datagrams.
    #[default]
    Udp,
    /// Connections.
    Tcp,
}

/// A table `[[source]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceTable {
    /// Which protocol.
    #[serde(deserialize_with = "protocol")]
    pub kind: Protocol,
    /// Where it listens; default all addresses at the protocol's own port.
    #[serde(default, deserialize_with = "listen")]
    pub listen: Option<SocketAddr>,
    /// Buffering and evaluation.
    #[serde(default)]
    pub settings: SourceSettings,
    /// Options of that protocol.
    #[serde(default)]
    pub livelinkface: livelinkface::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub ifacialmocap: ifacialmocap::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub vtubestudio: vtubestudio::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub openseeface: openseeface::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub vmc: vmc::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub mocopi: mocopi::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub rokoko: rokoko::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub xsens: xsens::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub natnet: natnet::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub freed: freed::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub psn: psn::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub axisneuron: axisneuron::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub facecap: facecap::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub osc: osc::Options,
    /// Options of that protocol.
    #[serde(default)]
    pub json: json::Options,
    /// The file, for that kind.
    pub file: Option<FileOptions>,
    /// Datagrams or connections.
    #[serde(default)]
    pub transport: Transport,
    /// The address to connect to, in place of listening; TCP only.
    #[serde(default, deserialize_with = "listen")]
    pub connect: Option<SocketAddr>,
    /// Multicast group to join; default the protocol's own, if it has one and this is not loopback.
    pub multicast: Option<Ipv4Addr>,
    /// Address of the adapter to join the group on; default the system's choice.
    pub interface: Option<Ipv4Addr>,
}

/// A table `[[subject]]`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the stage file"
)]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectTable {
    /// Its name.
    pub name: String,
    /// Whether it is answered for.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// When several sources send this name: the one whose id begins like this plays, for example
    /// `livelinkface/192.168.1.7`. Without it the first one does, and the others wait.
    pub source: Option<String>,
    /// Buffering and evaluation of this subject alone, in place of its source's.
    pub settings: Option<SourceSettings>,
    /// The name under which outputs send it; its own without.
    pub outbound_name: Option<String>,
    /// Whether outputs send it.
    #[serde(default = "yes")]
    pub send: bool,
    /// Whether outputs hold its pose.
    #[serde(default)]
    pub paused: bool,
    /// Whether takes hold it.
    #[serde(default = "yes")]
    pub record: bool,
    /// What is done to its frames, in this order.
    #[serde(default)]
    pub process: Vec<Step>,
}

impl SubjectTable {
    /// A subject about which nothing is said.
    pub fn new(name: &str, source: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            enabled: true,
            source,
            settings: None,
            outbound_name: None,
            send: true,
            paused: false,
            record: true,
            process: Vec::new(),
        }
    }

    /// Whether the table speaks of this subject.
    pub fn is_about(&self, key: &hub::SubjectKey) -> bool {
        let of_source = |id: &String| key.source.as_str().starts_with(id.as_str());
        self.name == key.name.as_str() && self.source.as_ref().is_none_or(of_source)
    }
}

fn yes() -> bool {
    true
}

/// A frame rate as text.
pub(crate) fn rate<'de, D: serde::Deserializer<'de>>(from: D) -> Result<FrameRate, D::Error> {
    String::deserialize(from)?
        .parse()
        .map_err(serde::de::Error::custom)
}

fn listen<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    let addr = text.to_socket_addrs().ok().and_then(|mut a| a.next());
    addr.map(Some).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{text:?} is no address; expected HOST:PORT, port 0 picks a free one"
        ))
    })
}

fn protocol<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Protocol, D::Error> {
    String::deserialize(from)?
        .parse()
        .map_err(serde::de::Error::custom)
}

impl SourceTable {
    /// A protocol at an address, all else as usual.
    pub fn new(kind: Protocol, listen: SocketAddr) -> Self {
        Self {
            kind,
            listen: Some(listen),
            settings: SourceSettings::default(),
            livelinkface: livelinkface::Options::default(),
            ifacialmocap: ifacialmocap::Options::default(),
            vtubestudio: vtubestudio::Options::default(),
            openseeface: openseeface::Options::default(),
            vmc: vmc::Options::default(),
            mocopi: mocopi::Options::default(),
            rokoko: rokoko::Options::default(),
            xsens: xsens::Options::default(),
            natnet: natnet::Options::default(),
            freed: freed::Options::default(),
            psn: psn::Options::default(),
            axisneuron: axisneuron::Options::default(),
            facecap: facecap::Options::default(),
            osc: osc::Options::default(),
            json: json::Options::default(),
            file: None,
            transport: Transport::Udp,
            connect: None,
            multicast: None,
            interface: None,
        }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        let port = match self.kind {
            Protocol::IFacialMocap => self.face_transport().port(),
            kind => kind.default_port(),
        };
        self.listen
            .unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], port)))
    }

    /// What carries iFacialMocap.
    pub fn face_transport(&self) -> ifacialmocap::Transport {
        match self.transport {
            Transport::Udp => ifacialmocap::Transport::Udp,
            Transport::Tcp => {
                ifacialmocap::Transport::over_tcp(self.ifacialmocap.ask, self.connect.is_some())
            }
        }
    }

    /// How its TCP stream is cut; `None` by UDP, and for kinds without TCP.
    pub fn framing(&self) -> Option<Framing> {
        if self.transport == Transport::Udp {
            return None;
        }
        match self.kind {
            Protocol::IFacialMocap => match self.face_transport() {
                ifacialmocap::Transport::TcpText => {
                    Some(Framing::Delimited(ifacialmocap::TEXT_END))
                }
                ifacialmocap::Transport::TcpV3 => Some(Framing::FaceMotion3),
                ifacialmocap::Transport::Udp => None,
            },
            Protocol::Xsens => Some(Framing::Xsens),
            Protocol::AxisNeuron => Some(Framing::AxisNeuron),
            _ => None,
        }
    }

    /// Who connects to whom over TCP.
    pub fn endpoint(&self) -> TcpEndpoint {
        self.connect
            .map_or_else(|| TcpEndpoint::Listen(self.addr()), TcpEndpoint::Connect)
    }

    /// Whether both want the same port.
    fn binds_what(&self, other: &Self) -> bool {
        self.transport == other.transport
            && self.connect.is_none()
            && other.connect.is_none()
            && self.addr() == other.addr()
            && self.addr().port() != 0
            && self.kind != Protocol::File
    }

    /// What is wrong with it, each fault in words.
    fn faults(&self) -> Vec<String> {
        let mut faults = match self.kind {
            Protocol::Osc => self.osc.validate(),
            Protocol::Json => self.json.validate(),
            _ => Vec::new(),
        };
        if self.transport == Transport::Udp && self.connect.is_some() {
            faults.push("`connect` needs `transport = \"tcp\"`".into());
        }
        match &self.file {
            None if self.kind == Protocol::File => {
                faults.push("expected [source.file] with a path".into());
            }
            Some(_) if self.kind != Protocol::File => {
                faults.push(format!("{} takes no [source.file]", self.kind));
            }
            _ => {}
        }
        if self.transport == Transport::Tcp && self.framing().is_none() {
            faults.push(format!(
                "{} has no TCP; only ifacialmocap, xsens and axisneuron do",
                self.kind
            ));
        }
        faults
    }

    /// The group to join, if any.
    pub fn group(&self) -> Option<Multicast> {
        let usual = || {
            let loopback = self.addr().ip().is_loopback();
            self.kind.default_group().filter(|_| !loopback)
        };
        Some(Multicast {
            group: self.multicast.or_else(usual)?,
            interface: self.interface.unwrap_or(Ipv4Addr::UNSPECIFIED),
        })
    }
}

/// Checks the processors of a subject.
///
/// # Errors
/// All faults, with the number of each step.
pub fn check_steps(steps: &[Step]) -> anyhow::Result<()> {
    match Chain::new(steps) {
        Ok(_) => Ok(()),
        Err(faults) => {
            let texts: Vec<_> = faults.iter().map(ToString::to_string).collect();
            bail!("{}", texts.join("; "))
        }
    }
}

/// `KIND=ADDR` or `KIND` of `--source`.
///
/// # Errors
/// An unknown kind or an address that does not resolve.
pub fn parse_source(text: &str) -> Result<SourceTable, String> {
    let (kind, addr) = match text.split_once('=') {
        Some((kind, addr)) => (kind, Some(addr)),
        None => (text, None),
    };
    let kind: Protocol = kind.parse()?;
    if kind == Protocol::File {
        let path = addr.ok_or("expected file=PATH")?;
        let mut table = SourceTable::new(kind, SocketAddr::from(([0, 0, 0, 0], 0)));
        table.file = Some(FileOptions::new(path));
        return Ok(table);
    }
    let addr = match addr {
        None => SocketAddr::from(([0, 0, 0, 0], kind.default_port())),
        Some(addr) => resolve(addr, kind.default_port())?,
    };
    Ok(SourceTable::new(kind, addr))
}

/// `HOST:PORT` or `HOST`.
///
/// # Errors
/// When it does not resolve.
pub fn resolve(text: &str, default_port: u16) -> Result<SocketAddr, String> {
    let attempt = |text: &str| text.to_socket_addrs().ok()?.next();
    attempt(text)
        .or_else(|| attempt(&format!("{text}:{default_port}")))
        .ok_or_else(|| {
            format!(
                "{text:?} is no address; expected HOST:PORT, for example 127.0.0.1:{default_port}"
            )
        })
}

impl Stage {
    /// Reads a stage file. A relative record folder is relative to the file.
    ///
    /// # Errors
    /// Syntax, unknown names and bad values, with the line.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the stage file {}", path.display()))?;
        let mut stage = Self::parse(&text)
            .with_context(|| format!("the stage file {} cannot be used", path.display()))?;
        if let Some(folder) = path.parent() {
            // An absolute path stays as it is.
            stage.hub.record_folder = folder.join(&stage.hub.record_folder);
            stage.timecode.relative_to(folder);
            for file in stage.sources.iter_mut().filter_map(|s| s.file.as_mut()) {
                file.path = folder.join(&file.path);
            }
            for audio in &mut stage.audio {
                audio.relative_to(folder);
            }
            for character in &mut stage.characters {
                character.relative_to(folder);
            }
        }
        Ok(stage)
    }

    /// Reads the text of a stage file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let stage: Self = toml::from_str(text)?;
        stage.check()?;
        for (i, a) in stage.sources.iter().enumerate() {
            let clash = stage.sources[..i].iter().position(|b| a.binds_what(b));
            if let Some(first) = clash {
                bail!(
                    "source {} and source {} both listen on {}; give one of them another port",
                    first + 1,
                    i + 1,
                    a.addr()
                );
            }
        }
        Ok(stage)
    }

    /// All that is wrong beyond its syntax, at once.
    fn check(&self) -> anyhow::Result<()> {
        let mut faults = Vec::new();
        for (i, source) in self.sources.iter().enumerate() {
            let of_source = source.faults().into_iter();
            faults.extend(of_source.map(|f| format!("source {} ({}): {f}", i + 1, source.kind)));
        }
        for subject in &self.subjects {
            if let Err(error) = check_steps(&subject.process) {
                faults.push(format!("subject {:?}: {error:#}", subject.name));
            }
            if let Some(name) = &subject.outbound_name
                && let Err(error) = hub::SubjectName::new(name)
            {
                faults.push(format!(
                    "subject {:?}: outbound_name {name:?}: {error}",
                    subject.name
                ));
            }
        }
        for (i, audio) in self.audio.iter().enumerate() {
            if let Err(error) = audio.check() {
                faults.push(format!("audio {:?}: {error:#}", audio.name));
            }
            if self.audio[..i].iter().any(|a| a.name == audio.name) {
                faults.push(format!(
                    "audio {:?}: the name is taken; give it another",
                    audio.name
                ));
            }
        }
        let reads_input = self.audio.iter().filter(|a| a.takes_standard_input());
        let readers = usize::from(self.timecode.takes_standard_input()) + reads_input.count();
        if readers > 1 {
            faults.push("standard input can carry one thing only".to_owned());
        }
        for character in &self.characters {
            let of_character = character.faults().into_iter();
            faults.extend(of_character.map(|f| format!("character {:?}: {f}", character.name)));
        }
        for made in &self.virtuals {
            faults.extend(made.check().err().unwrap_or_default());
        }
        faults.extend(check_cycles(&self.virtuals).err().unwrap_or_default());
        for (i, output) in self.outputs.iter().enumerate() {
            if let Err(error) = output.check() {
                faults.push(format!("output {}: {error:#}", i + 1));
            }
        }
        if let Err(error) = self.remote_options().check() {
            faults.push(format!("{error:#}"));
        }
        if faults.is_empty() {
            Ok(())
        } else {
            bail!("{}", faults.join("\n"))
        }
    }

    /// Everything about remote control.
    pub fn remote_options(&self) -> RemoteOptions {
        RemoteOptions {
            phones: self.phones.clone(),
            remote: self.remote.clone(),
            trigger: self.trigger.clone(),
        }
    }

    /// Rate of the hub's own time of day.
    pub fn timecode_rate(&self) -> FrameRate {
        self.hub.timecode_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stage_is_read() {
        let stage = Stage::parse(
            r#"
            [hub]
            record_folder = "/tmp/takes"
            timecode_rate = "29.97"
            [[source]]
            kind = "livelinkface"
            listen = "127.0.0.1:0"
            [source.settings]
            world_offset_secs = 0.1
            [source.settings.stall]
            ease_to_rest = false
            [source.livelinkface]
            rotation_unit = "half_turns"
            [[subject]]
            name = "演員"
            enabled = false
            source = "livelinkface/10.0.0.1"
            "#,
        )
        .unwrap();
        assert_eq!(stage.timecode_rate(), FrameRate::FPS_29_97);
        assert_eq!(stage.sources[0].settings.world_offset_secs, 0.1);
        assert!(!stage.sources[0].settings.stall.ease_to_rest);
        assert_eq!(stage.subjects[0].name, "演員");
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| format!("{:#}", Stage::parse(text).unwrap_err());
        let unknown = message("[hub]\n\nrecord_foldr = \"x\"\n");
        assert!(
            unknown.contains("line 3") && unknown.contains("record_foldr"),
            "{unknown}"
        );
        let kind = message("[[source]]\nkind = \"vmc2\"\n");
        assert!(
            kind.contains("line 2") && kind.contains("known kinds"),
            "{kind}"
        );
        let clash = message(
            "[[source]]\nkind=\"native\"\nlisten=\"0.0.0.0:5\"\n[[source]]\nkind=\"livelinkface\"\nlisten=\"0.0.0.0:5\"\n",
        );
        assert!(clash.contains("both listen on 0.0.0.0:5"), "{clash}");
    }
}
