//! The table `[[output]]` of a stage file, checked and with every name resolved before anything starts.
//!
//! ```toml
//! [[output]]
//! kind = "vmc"                              # or livelinkface, native, osc, websocket
//! to = ["192.168.1.20:39539", "127.0.0.1"]  # without a port, the kind's own
//! subjects = ["Ada*", "!*_raw"]             # default ["*"]
//! rate = 60                                 # of its own tick
//!
//! [[output]]
//! kind = "websocket"
//! listen = "127.0.0.1:11212"
//! ```

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};

use anyhow::{Context as _, bail, ensure};
use hub::FrameRate;
use serde::{Deserialize, Deserializer, Serialize};
use sources::osc::encode::OscPrefix;

use super::select::Patterns;

/// Most receivers of an output, and most pages connected to one.
pub const MAX_RECEIVERS: usize = 64;
/// Where a WebSocket output listens unless told otherwise, on loopback.
pub const WEBSOCKET_PORT: u16 = 11212;

const MAX_NAME_CHARS: usize = 64;

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// VMC protocol, as a performer.
    Vmc,
    /// Live Link Face, as a phone.
    LiveLinkFace,
    /// Our own format, to other hubs.
    Native,
    /// OSC messages with an address per curve and bone.
    Osc,
    /// The JSON stream, for browsers.
    WebSocket,
}

impl OutputKind {
    /// The word for it in stage files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vmc => "vmc",
            Self::LiveLinkFace => "livelinkface",
            Self::Native => "native",
            Self::Osc => "osc",
            Self::WebSocket => "websocket",
        }
    }

    /// The port its receivers listen on unless told otherwise; OSC has none.
    fn default_port(self) -> Option<u16> {
        match self {
            Self::Vmc => Some(sources::vmc::PORT),
            Self::LiveLinkFace => Some(sources::livelinkface::PORT),
            Self::Native => Some(sources::native::PORT),
            Self::Osc => None,
            Self::WebSocket => Some(WEBSOCKET_PORT),
        }
    }
}

/// When it sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// At its own tick, each subject evaluated at that time.
    #[default]
    Tick,
    /// Each frame as it arrives.
    Pass,
}

/// When subjects are evaluated for a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvaluateAt {
    /// At the hub's time less each source's offset: even motion.
    #[default]
    World,
    /// The newest frame: least delay.
    Latest,
    /// At the hub's timecode: subjects that share a timecode stay together.
    Timecode,
}

/// How VMC and OSC messages go into datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bundle {
    /// One bundle per frame, however long.
    #[default]
    Frame,
    /// Bundles of at most 1,400 bytes, for networks that lose the pieces of longer ones.
    Mtu,
}

/// A table `[[output]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputOptions {
    /// What is spoken.
    pub kind: OutputKind,
    /// What it is called in reports and commands; default the kind and its number in the file, `vmc-1`.
    pub name: Option<String>,
    /// Whether it sends.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Receivers, `HOST:PORT` or `HOST`; all kinds but `websocket`.
    #[serde(default)]
    pub to: Vec<String>,
    /// Where it listens, `HOST:PORT`; only `websocket`.
    pub listen: Option<String>,
    /// Web pages that may connect besides those of this machine, by their origin, for example
    /// `https://stage.example`; `*` lets in all. Only `websocket`.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Patterns of subject names; see [`Patterns`].
    #[serde(default = "all")]
    pub subjects: Vec<String>,
    /// When it sends.
    #[serde(default)]
    pub mode: Mode,
    /// Ticks per second, 1 to 1000: `60`, `59.94`, `"60000/1001"`. Mode `tick`. Default 60.
    #[serde(default = "usual_rate", deserialize_with = "rate")]
    pub rate: FrameRate,
    /// Most frames per second of a subject. Mode `pass`. Default 120.
    #[serde(default = "usual_max_rate", deserialize_with = "rate")]
    pub max_rate: FrameRate,
    /// When subjects are evaluated. Mode `tick`.
    #[serde(default)]
    pub at: EvaluateAt,
    /// How messages go into datagrams; `vmc` and `osc`.
    #[serde(default)]
    pub bundle: Bundle,
    /// What OSC addresses begin with; default `/ghostlight`. Only `osc`.
    pub prefix: Option<String>,
}

fn yes() -> bool {
    true
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

fn usual_rate() -> FrameRate {
    FrameRate::FPS_60
}

fn usual_max_rate() -> FrameRate {
    FrameRate::FPS_120
}

/// A rate as people write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum RateText {
    Whole(u32),
    Decimal(f64),
    Text(String),
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<FrameRate, D::Error> {
    let text = match RateText::deserialize(from)? {
        RateText::Whole(rate) => rate.to_string(),
        RateText::Decimal(rate) => rate.to_string(),
        RateText::Text(text) => text,
    };
    text.parse().map_err(serde::de::Error::custom)
}

/// An output that can be started: nothing is left to look up.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) kind: OutputKind,
    pub(super) enabled: bool,
    /// Receivers; empty for a WebSocket.
    pub(super) to: Vec<SocketAddr>,
    /// Where a WebSocket listens.
    pub(super) listen: SocketAddr,
    pub(super) origins: Vec<String>,
    pub(super) select: Patterns,
    pub(super) mode: Mode,
    pub(super) rate: FrameRate,
    pub(super) max_rate: FrameRate,
    pub(super) at: EvaluateAt,
    pub(super) max_datagram: Option<usize>,
    pub(super) prefix: OscPrefix,
}

impl OutputOptions {
    /// An output of that kind, all else as usual.
    pub fn new(kind: OutputKind) -> Self {
        Self {
            kind,
            name: None,
            enabled: true,
            to: Vec::new(),
            listen: None,
            origins: Vec::new(),
            subjects: all(),
            mode: Mode::default(),
            rate: usual_rate(),
            max_rate: usual_max_rate(),
            at: EvaluateAt::default(),
            bundle: Bundle::default(),
            prefix: None,
        }
    }

    /// What it is called when it is the output of that number, counted from 1.
    pub fn name_as(&self, number: usize) -> String {
        let usual = || format!("{}-{number}", self.kind.as_str());
        self.name.clone().unwrap_or_else(usual)
    }

    /// Checks all that can be checked without the network.
    ///
    /// # Errors
    /// The first option that cannot be used, and why.
    pub fn check(&self) -> anyhow::Result<()> {
        self.parts().map(drop)
    }

    fn parts(&self) -> anyhow::Result<(Patterns, OscPrefix)> {
        let kind = self.kind.as_str();
        if let Some(name) = &self.name {
            let is_name = (1..=MAX_NAME_CHARS).contains(&name.chars().count())
                && !name.chars().any(char::is_control);
            ensure!(
                is_name,
                "{name:?} is no name for an output; expected up to {MAX_NAME_CHARS} characters"
            );
        }
        if self.kind == OutputKind::WebSocket {
            ensure!(
                self.to.is_empty(),
                "a websocket output has no receivers; pages connect to where it listens"
            );
        } else {
            ensure!(
                self.listen.is_none() && self.origins.is_empty(),
                "a {kind} output does not listen; only kind \"websocket\" has listen and origins"
            );
            ensure!(
                !self.to.is_empty(),
                "a {kind} output needs receivers, for example to = [\"192.168.1.20:{}\"]",
                self.kind.default_port().unwrap_or(9000)
            );
            ensure!(
                self.to.len() <= MAX_RECEIVERS,
                "{} receivers are more than {MAX_RECEIVERS}; add a second output",
                self.to.len()
            );
        }
        let has_bundles = matches!(self.kind, OutputKind::Vmc | OutputKind::Osc);
        ensure!(
            has_bundles || self.bundle == Bundle::Frame,
            "bundle is only for kinds \"vmc\" and \"osc\""
        );
        ensure!(
            self.prefix.is_none() || self.kind == OutputKind::Osc,
            "prefix is only for kind \"osc\""
        );
        let select = Patterns::new(&self.subjects)
            .map_err(anyhow::Error::msg)
            .context("subjects")?;
        let prefix = match &self.prefix {
            None => OscPrefix::default(),
            Some(text) => {
                OscPrefix::new(text).with_context(|| format!("prefix {text:?} cannot be used"))?
            }
        };
        Ok((select, prefix))
    }

    /// Looks every name up. May wait for the network's name service.
    pub(super) fn plan(&self, number: usize) -> anyhow::Result<Plan> {
        let (select, prefix) = self.parts()?;
        let port = self.kind.default_port();
        let mut to = Vec::with_capacity(self.to.len());
        for text in &self.to {
            let addr = resolve(text, port)?;
            ensure!(addr.port() != 0, "{text:?}: nobody receives on port 0");
            if to.contains(&addr) {
                bail!("{text:?} is named twice; it would get everything twice");
            }
            to.push(addr);
        }
        let listen = match &self.listen {
            Some(text) => resolve(text, port)?,
            None => SocketAddr::from((Ipv4Addr::LOCALHOST, WEBSOCKET_PORT)),
        };
        let max_datagram = match self.bundle {
            Bundle::Frame => None,
            Bundle::Mtu => Some(sources::vmc::MTU),
        };
        Ok(Plan {
            name: self.name_as(number),
            kind: self.kind,
            enabled: self.enabled,
            to,
            listen,
            origins: self.origins.clone(),
            select,
            mode: self.mode,
            rate: self.rate,
            max_rate: self.max_rate,
            at: self.at,
            max_datagram,
            prefix,
        })
    }
}

/// `HOST:PORT`, or `HOST` where there is a usual port. Of several addresses the first of IPv4 counts, since
/// most receivers listen to that alone.
fn resolve(text: &str, default_port: Option<u16>) -> anyhow::Result<SocketAddr> {
    let look_up = |text: &str| {
        let found: Vec<SocketAddr> = text.to_socket_addrs().ok()?.collect();
        let usual = found.iter().find(|a| a.is_ipv4());
        usual.or(found.first()).copied()
    };
    look_up(text)
        .or_else(|| look_up(&format!("{text}:{}", default_port?)))
        .with_context(|| {
            format!(
                "{text:?} is no address; expected HOST:PORT, for example 192.168.1.20:{}",
                default_port.unwrap_or(9000)
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<OutputOptions> {
        Ok(toml::from_str(text)?)
    }

    #[test]
    fn what_is_left_out_is_as_usual() {
        let usual = OutputOptions {
            to: vec!["127.0.0.1".to_owned()],
            ..OutputOptions::new(OutputKind::Vmc)
        };
        let read = read("kind = \"vmc\"\nto = [\"127.0.0.1\"]").unwrap();
        assert_eq!(read, usual);
        let plan = read.plan(3).unwrap();
        assert_eq!(plan.name, "vmc-3");
        assert_eq!(plan.to, [SocketAddr::from(([127, 0, 0, 1], 39539))]);
        assert_eq!(plan.max_datagram, None);
        let web = OutputOptions::new(OutputKind::WebSocket).plan(1).unwrap();
        assert_eq!(web.listen, SocketAddr::from(([127, 0, 0, 1], 11212)));
    }

    #[test]
    fn a_full_table_is_read() {
        let read = read(
            r#"
            kind = "osc"
            name = "灯り"
            enabled = false
            to = ["127.0.0.1:9000", "[::1]:9001"]
            subjects = ["Ada*", "!*_raw"]
            mode = "pass"
            max_rate = 29.97
            rate = "60000/1001"
            at = "latest"
            bundle = "mtu"
            prefix = "/stage"
            "#,
        )
        .unwrap();
        let plan = read.plan(1).unwrap();
        assert_eq!(
            (plan.rate, plan.max_rate),
            (FrameRate::FPS_59_94, FrameRate::FPS_29_97)
        );
        assert_eq!((plan.mode, plan.at), (Mode::Pass, EvaluateAt::Latest));
        assert_eq!(plan.max_datagram, Some(1400));
        assert_eq!(plan.prefix.as_str(), "/stage");
        assert!(!plan.enabled && plan.select.matches("Ada") && !plan.select.matches("Ada_raw"));
    }

    #[test]
    fn what_cannot_work_is_refused_with_a_reason() {
        for (text, why) in [
            ("kind = \"vmc\"", "needs receivers"),
            ("kind = \"vmc2\"", "vmc2"),
            ("kind = \"vmc\"\nto = [\"h:1\"]\ntoo = 1", "too"),
            ("kind = \"vmc\"\nto = [\"127.0.0.1:0\"]", "port 0"),
            ("kind = \"osc\"\nto = [\"127.0.0.1\"]", "no address"),
            (
                "kind = \"osc\"\nto = [\"127.0.0.1:1\"]\nprefix = \"a\"",
                "begin with /",
            ),
            (
                "kind = \"vmc\"\nto = [\"127.0.0.1\"]\nprefix = \"/a\"",
                "only for kind",
            ),
            (
                "kind = \"native\"\nto = [\"127.0.0.1\"]\nbundle = \"mtu\"",
                "only for kinds",
            ),
            (
                "kind = \"vmc\"\nto = [\"127.0.0.1\"]\nlisten = \"127.0.0.1:1\"",
                "does not listen",
            ),
            ("kind = \"websocket\"\nto = [\"127.0.0.1\"]", "no receivers"),
            (
                "kind = \"vmc\"\nto = [\"127.0.0.1\"]\nsubjects = []",
                "lets a subject in",
            ),
            ("kind = \"vmc\"\nto = [\"127.0.0.1\"]\nrate = 0", "rate"),
            (
                "kind = \"vmc\"\nto = [\"127.0.0.1\", \"127.0.0.1:39539\"]",
                "twice",
            ),
            (
                "kind = \"vmc\"\nto = [\"127.0.0.1\"]\nname = \"\"",
                "no name",
            ),
        ] {
            let outcome = read(text).and_then(|o| o.plan(1).map(drop));
            let message = format!("{:#}", outcome.unwrap_err());
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
