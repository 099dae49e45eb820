//! What is said to the app and what it says, as OSC messages.

use std::net::SocketAddr;

use rosc::{OscMessage, OscPacket, OscType, encoder::encode_into};

use crate::{
    error::Reject,
    osc::scan::{Args, Message},
};

/// A message of the app, judged and not yet believed.
pub(super) enum Answer<'a> {
    Battery(Option<f32>),
    Thermals(i32),
    RecordStarted {
        timecode: &'a str,
    },
    RecordStopped {
        timecode: &'a str,
        csv: &'a str,
        mov: &'a str,
    },
    /// At the front or not.
    App(bool),
    ArSession(bool),
    /// Confirms, and what we do not know: that it came is all it says.
    Other,
}

pub(super) fn answer<'a>(message: &Message<'a>) -> Result<Answer<'a>, Reject> {
    let args = message.args.clone();
    Ok(match message.address {
        "/Battery" => Answer::Battery(battery(number(args)?)?),
        "/Thermals" => {
            let level = number(args)?;
            if !(0.0..=3.0).contains(&level) {
                return Err(Reject::OutOfRange {
                    what: "thermal state",
                    have: level as i64,
                    min: 0,
                    max: 3,
                });
            }
            Answer::Thermals(level as i32)
        }
        "/RecordStartConfirm" => {
            let [timecode] = texts(args);
            Answer::RecordStarted { timecode }
        }
        "/RecordStopConfirm" => {
            let [timecode, csv, mov] = texts(args);
            Answer::RecordStopped { timecode, csv, mov }
        }
        "/AppActivated" => Answer::App(true),
        "/AppDeactivated" => Answer::App(false),
        "/ARSessionStartConfirm" => Answer::ArSession(true),
        "/ARSessionStopConfirm" => Answer::ArSession(false),
        _ => Answer::Other,
    })
}

/// A system that does not know its charge says −1.
fn battery(level: f64) -> Result<Option<f32>, Reject> {
    if level == -1.0 {
        return Ok(None);
    }
    if (0.0..=1.0).contains(&level) {
        return Ok(Some(level as f32));
    }
    Err(Reject::OutOfRange {
        what: "battery percent",
        have: (level * 100.0) as i64,
        min: 0,
        max: 100,
    })
}

/// The first argument, finite.
fn number(args: Args<'_>) -> Result<f64, Reject> {
    let [value] = args.numbers::<1>();
    let value = value.ok_or(Reject::Syntax {
        at: 0,
        expected: "a number as first argument",
    })?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Reject::NonFinite { at: 0 })
    }
}

/// The first arguments as texts; empty where there is none.
fn texts<const N: usize>(mut args: Args<'_>) -> [&str; N] {
    let mut all = [""; N];
    for one in &mut all {
        let Some(text) = args.text() else {
            break;
        };
        *one = text;
    }
    all
}

/// The beginning of a text, at most `max` bytes, without control characters.
pub(super) fn clean(text: &str, max: usize) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        if out.len() + c.len_utf8() > max {
            break;
        }
        out.push(c);
    }
    out
}

pub(super) fn address_args(addr: SocketAddr) -> Vec<OscType> {
    vec![
        OscType::String(addr.ip().to_string()),
        OscType::Int(i32::from(addr.port())),
    ]
}

pub(super) fn message(address: &str, args: Vec<OscType>) -> Vec<u8> {
    let packet = OscPacket::Message(OscMessage {
        addr: address.to_owned(),
        args,
    });
    let mut out = Vec::new();
    let Ok(_) = encode_into(&packet, &mut out);
    out
}
