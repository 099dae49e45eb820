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
use hub::{FrameRate, client::SourceSettings};
use serde::Deserialize;
use sources::{
    Protocol, freed, ifacialmocap, livelinkface, mocopi, natnet, net::socket::Multicast,
    openseeface, psn, rokoko, vmc, vtubestudio, xsens,
};

/// A stage as read.
#[derive(Clone, Debug, Default, Deserialize)]
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
}

/// The table `[hub]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HubTable {
    /// Folder for takes.
    pub record_folder: PathBuf,
    /// Rate of the hub's own time of day.
    #[serde(deserialize_with = "rate")]
    pub timecode_rate: FrameRate,
}

impl Default for HubTable {
    fn default() -> Self {
        Self {
            record_folder: "takes".into(),
            timecode_rate: FrameRate::FPS_60,
        }
    }
}

/// A table `[[source]]`.
#[derive(Clone, Debug, Deserialize)]
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
    /// Multicast group to join; default the protocol's own, if it has one and this is not loopback.
    pub multicast: Option<Ipv4Addr>,
    /// Address of the adapter to join the group on; default the system's choice.
    pub interface: Option<Ipv4Addr>,
}

/// A table `[[subject]]`.
#[derive(Clone, Debug, Deserialize)]
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
}

fn yes() -> bool {
    true
}

fn rate<'de, D: serde::Deserializer<'de>>(from: D) -> Result<FrameRate, D::Error> {
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
            multicast: None,
            interface: None,
        }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.listen
            .unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], self.kind.default_port())))
    }
}

impl SourceTable {
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
        if stage.hub.record_folder.is_relative()
            && let Some(folder) = path.parent()
        {
            stage.hub.record_folder = folder.join(&stage.hub.record_folder);
        }
        Ok(stage)
    }

    /// Reads the text of a stage file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let stage: Self = toml::from_str(text)?;
        for (i, a) in stage.sources.iter().enumerate() {
            let clash = stage.sources[..i]
                .iter()
                .position(|b| a.addr() == b.addr() && a.addr().port() != 0);
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
