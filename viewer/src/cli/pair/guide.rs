//! What to type into which device, by protocol.

use std::net::SocketAddr;

use sources::Protocol;

pub(super) use crate::doctor::asked_phone;
use crate::stage::SourceTable;

/// How a device and the hub come together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guide {
    /// What the device or program is called.
    pub(super) device: &'static str,
    /// What to do there; the address and port are said elsewhere.
    pub(super) steps: &'static str,
    /// Whether the device has to be given the hub's address.
    pub(super) wants_address: bool,
    /// What a QR code should say, for devices that have a camera and a keyboard.
    pub(super) code: Option<String>,
}

/// Whether a phone or its like, which somebody holds and waits with, sends this.
pub(super) fn is_handheld(kind: Protocol) -> bool {
    // The native format comes from other hubs, which find each other.
    kind != Protocol::Native
}

/// What to do for a source whose devices should send to `to`.
pub(super) fn guide(source: &SourceTable, to: Option<SocketAddr>) -> Guide {
    // By word: a protocol that is new has the last sentence until it gets its own.
    let asked = asked_phone(source).is_some();
    let (device, steps, wants_address) = match (source.kind.as_str(), asked) {
        ("livelinkface", _) => (
            "Live Link Face",
            "Settings, Live Link, add a target with this address and port. Mode Live Link (ARKit). Then LIVE on.",
            true,
        ),
        ("ifacialmocap", false) => (
            "iFacialMocap or Facemotion3d",
            "In its settings, enter this address as the destination; UDP.",
            true,
        ),
        ("ifacialmocap", true) => (
            "iFacialMocap or Facemotion3d",
            "Nothing to type: the phone entered in the stage file is asked. Leave the app open.",
            false,
        ),
        ("vtubestudio", true) => (
            "VTube Studio or MeowFace",
            "Switch on 3rd Party PC Clients. Nothing to type: the phone entered in the stage file is asked.",
            false,
        ),
        ("vtubestudio", false) => (
            "VTube Studio or MeowFace",
            "This phone must be asked: enter its address as `phone` in the stage file, see docs/vtubestudio.md.",
            false,
        ),
        ("openseeface", _) => (
            "OpenSeeFace",
            "Start facetracker with --ip and --port set to these.",
            true,
        ),
        ("vmc", _) => (
            "a VMC performer",
            "In its settings for VMC protocol, OSC or motion sending: this address and port.",
            true,
        ),
        ("mocopi", _) => (
            "mocopi",
            "In its settings for sending to a PC: this address and port, format mocopi (UDP).",
            true,
        ),
        ("rokoko", _) => (
            "Rokoko Studio",
            "Livestream, custom: this address and port, JSON v3.",
            true,
        ),
        ("xsens", _) => (
            "Xsens MVN",
            "Options, Network Streamer: this address and port, UDP, position and orientation (quaternion).",
            true,
        ),
        ("natnet", _) => (
            "OptiTrack Motive",
            "Nothing to type: Motive streams to its group. `server` in the stage file brings names, see docs/natnet.md.",
            false,
        ),
        ("freed", _) => (
            "a FreeD camera",
            "In its tracking settings: FreeD D1, this address and port.",
            true,
        ),
        ("psn", _) => (
            "a PosiStageNet server",
            "Nothing to type: it sends to its multicast group. Both machines must be in the tracking network.",
            false,
        ),
        ("native", _) => (
            "another hub or `ghostlight send`",
            "Send to this address and port.",
            true,
        ),
        _ => (
            "a device",
            "Enter this address and port as its target.",
            true,
        ),
    };
    let code = to
        .filter(|_| wants_address)
        .and_then(|to| match source.kind {
            // That app has no field for the port.
            Protocol::IFacialMocap => Some(to.ip().to_string()),
            Protocol::Native => None,
            _ => Some(to.to_string()),
        });
    Guide {
        device,
        steps,
        wants_address,
        code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(kind: Protocol) -> SourceTable {
        SourceTable::new(kind, ([0, 0, 0, 0], kind.default_port()).into())
    }

    #[test]
    fn codes_say_what_the_device_has_fields_for() {
        let to = Some(SocketAddr::from(([192, 168, 77, 2], 11111)));
        let code = |kind| guide(&source(kind), to).code;
        assert_eq!(
            code(Protocol::LiveLinkFace).as_deref(),
            Some("192.168.77.2:11111")
        );
        assert_eq!(
            code(Protocol::IFacialMocap).as_deref(),
            Some("192.168.77.2")
        );
        assert_eq!(code(Protocol::Psn), None);
        assert_eq!(guide(&source(Protocol::LiveLinkFace), None).code, None);
    }

    #[test]
    fn a_phone_that_is_asked_is_given_no_address() {
        let mut table = source(Protocol::IFacialMocap);
        assert!(guide(&table, None).wants_address);
        table.ifacialmocap.phone = Some(([192, 168, 77, 9], 49983).into());
        assert!(!guide(&table, None).wants_address);
        assert_eq!(asked_phone(&table), table.ifacialmocap.phone);
    }
}
