//! Hubs that find each other: multicast DNS (RFC 6762) with service discovery (RFC 6763).
//!
//! A hub says `_ghostlight._udp.local.` with the port of the native format and, as TXT, its version, name, run and
//! the ports of its sources. It speaks and listens only on the adapters it is given, and gives only their
//! addresses: the caller hands over those that [`crate::adapters::rank`] holds usable, so a VPN's address is out
//! unless it was asked for. An adapter that cannot be used costs that adapter, not the search.
//!
//! What comes from the network is bounded and cleaned before it is kept. With the cargo feature `mdns` off,
//! [`Discovery::start`] refuses and everything else goes on.

#[cfg(feature = "mdns")]
mod mdns;

use std::net::IpAddr;

use hub::SubjectName;
use sources::Protocol;

use crate::adapters::Adapter;

/// The service type.
pub const SERVICE: &str = "_ghostlight._udp.local.";
/// Most hubs kept; later ones are left out.
pub const MAX_HUBS: usize = 64;
/// Most addresses kept of one hub.
pub const MAX_ADDRESSES: usize = 16;
/// Most sources kept of one hub.
pub const MAX_SOURCES: usize = 64;

/// What this hub says of itself.
#[derive(Clone, Debug)]
pub struct Options {
    /// What people call it, in any script; at most 200 bytes are said.
    pub name: String,
    /// Tells this run from every other, so that a hub does not find itself. ASCII letters, digits and single hyphens
    /// between them; the first 20 count.
    pub run: String,
    /// Port of the native format; 0 when this hub does not listen for it.
    pub native_port: u16,
    /// What listens, and on which port.
    pub sources: Vec<(Protocol, u16)>,
    /// The adapters to use. Loopback addresses are for tests.
    pub adapters: Vec<Adapter>,
}

/// An address of another hub.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HubAddress {
    /// The address.
    pub ip: IpAddr,
    /// Our adapter on which it was heard; empty when that is not known.
    pub adapter: String,
}

/// Another hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    /// Its full name in the service; two hubs never share one.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its version, as it says.
    pub version: String,
    /// Port of its native format; 0 when it does not listen for it.
    pub native_port: u16,
    /// What it listens for: word and port, sorted.
    pub sources: Vec<(String, u16)>,
    /// Where it is, sorted; never empty.
    pub addresses: Vec<HubAddress>,
}

/// What changed since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A hub that is new, or one that is other than before.
    Found(Hub),
    /// A hub that left or fell silent: its name.
    Gone(String),
    /// Something does not work on one of the adapters; the search goes on.
    Problem(String),
}

/// Advertises this hub and looks for others until it is dropped or stopped.
///
/// [`Self::poll`] must be called at least each second: what is found waits in a short queue, and while that is
/// full nothing more is answered.
pub struct Discovery {
    #[cfg(feature = "mdns")]
    inner: mdns::Inner,
    #[cfg(not(feature = "mdns"))]
    never: std::convert::Infallible,
}

#[cfg(feature = "mdns")]
impl Discovery {
    /// Begins to advertise and to look.
    ///
    /// # Errors
    /// When no adapter is given, or the system gives no socket or thread.
    pub fn start(options: &Options) -> anyhow::Result<Self> {
        let inner = mdns::Inner::start(options)?;
        Ok(Self { inner })
    }

    /// What changed. Does not wait.
    pub fn poll(&mut self) -> Vec<Change> {
        self.inner.poll()
    }

    /// The hubs that are here, in the order in which they were found.
    pub fn hubs(&self) -> &[Hub] {
        self.inner.hubs()
    }

    /// Says goodbye and ends. Takes at most two seconds.
    pub fn stop(mut self) {
        self.inner.stop();
    }
}

#[cfg(not(feature = "mdns"))]
impl Discovery {
    /// This build has no discovery.
    ///
    /// # Errors
    /// Always.
    pub fn start(_options: &Options) -> anyhow::Result<Self> {
        anyhow::bail!("this build is without mDNS (cargo feature `mdns`)")
    }

    /// Nothing.
    pub fn poll(&mut self) -> Vec<Change> {
        match self.never {}
    }

    /// None.
    pub fn hubs(&self) -> &[Hub] {
        match self.never {}
    }

    /// Nothing to end.
    pub fn stop(self) {
        match self.never {}
    }
}

/// Text of a stranger as something that can be shown: bounded, without control characters.
pub fn clean(text: &[u8]) -> String {
    SubjectName::from_wire(text).map_or_else(String::new, |name| name.as_str().to_owned())
}

/// The beginning of `text`, at most `bytes` long, cut between characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

/// What this machine is called, for [`Options::name`].
pub fn machine_name() -> String {
    let from_env = |key| std::env::var(key).ok();
    let from_file = |path| std::fs::read_to_string(path).ok();
    let from_program = || {
        let out = std::process::Command::new("hostname").output().ok()?;
        String::from_utf8(out.stdout).ok()
    };
    let text = from_env("COMPUTERNAME")
        .or_else(|| from_file("/proc/sys/kernel/hostname"))
        .or_else(|| from_file("/etc/hostname"))
        .or_else(from_program)
        .unwrap_or_default();
    let name = clean(text.trim().trim_end_matches(".local").as_bytes());
    if name.is_empty() {
        "Ghostlight".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_falls_between_characters() {
        // Three bytes each.
        for (bytes, kept) in [
            (0, ""),
            (2, ""),
            (3, "舞"),
            (5, "舞"),
            (6, "舞台"),
            (99, "舞台"),
        ] {
            assert_eq!(cut("舞台", bytes), kept, "{bytes}");
        }
    }

    #[test]
    fn a_strangers_text_cannot_write_to_the_terminal() {
        assert_eq!(clean(b"Stage\x1b[2J"), "Stage\u{fffd}[2J");
        assert_eq!(clean("楽屋".as_bytes()), "楽屋");
        assert_eq!(clean(b" \t"), "");
    }

    #[test]
    fn the_machine_has_a_name() {
        let name = machine_name();
        assert!(!name.is_empty() && !name.contains('\n'), "{name:?}");
    }
}
