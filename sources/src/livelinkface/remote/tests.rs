//! Bytes by hand from the OSC 1.0 specification; time as an argument.

use super::*;

const MS: i64 = 1_000_000;

fn ms(ms: i64) -> WorldTime {
    WorldTime::from_nanos(ms * MS)
}

fn phone() -> SocketAddr {
    "10.0.0.7:8000".parse().unwrap()
}

fn hub() -> SocketAddr {
    "10.0.0.2:8001".parse().unwrap()
}

fn remote() -> PhoneRemote {
    let mut remote = PhoneRemote::new(phone());
    remote.answer_to(hub());
    remote
}

/// What goes out at that time.
fn sent(remote: &mut PhoneRemote, at_ms: i64) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    remote.transmit(ms(at_ms), &mut |to, bytes| {
        assert_eq!(to, phone());
        all.push(bytes.to_vec());
    });
    all
}

/// When messages of an address went out, looked at every 50 ms.
fn times(remote: &mut PhoneRemote, from_ms: i64, to_ms: i64, address: &str) -> Vec<i64> {
    let mut all = Vec::new();
    for at in (from_ms..to_ms).step_by(50) {
        let hits = sent(remote, at);
        let hits = hits.iter().filter(|b| address_of(b) == address);
        all.extend(hits.map(|_| at));
    }
    all
}

fn address_of(bytes: &[u8]) -> &str {
    let end = bytes.iter().position(|b| *b == 0).unwrap();
    str::from_utf8(&bytes[..end]).unwrap()
}

/// A string of OSC: ended by NUL, padded with NUL to a multiple of four.
fn string(text: &str) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    out.push(0);
    while !out.len().is_multiple_of(4) {
        out.push(0);
    }
    out
}

fn osc(address: &str, tags: &str, args: &[&[u8]]) -> Vec<u8> {
    [string(address), string(tags), args.concat()].concat()
}

fn says(remote: &mut PhoneRemote, at_ms: i64, bytes: &[u8]) -> Result<(), PhoneReject> {
    // The app answers from another port than it listens on.
    remote.handle(ms(at_ms), "10.0.0.7:51234".parse().unwrap(), bytes)
}

fn started() -> Vec<u8> {
    osc("/RecordStartConfirm", ",s", &[&string("00:00:00.000")])
}

fn stopped() -> Vec<u8> {
    let args = ["00:00:09.500", "take/a.csv", "take/a.mov"].map(string);
    osc(
        "/RecordStopConfirm",
        ",sss",
        &[&args[0], &args[1], &args[2]],
    )
}

fn events(remote: &mut PhoneRemote) -> Vec<PhoneEvent> {
    std::iter::from_fn(|| remote.poll_event()).collect()
}

fn began(is_ordered: bool) -> PhoneEvent {
    PhoneEvent::RecordStarted {
        timecode: "00:00:00.000".to_owned(),
        is_ordered,
    }
}

fn ended(is_ordered: bool) -> PhoneEvent {
    PhoneEvent::RecordStopped {
        timecode: "00:00:09.500".to_owned(),
        csv: "take/a.csv".to_owned(),
        mov: "take/a.mov".to_owned(),
        is_ordered,
    }
}

#[test]
fn every_message_has_the_bytes_of_the_specification() {
    let mut remote = remote();
    assert_eq!(
        sent(&mut remote, 0),
        [b"/OSCSetSendTarget\0\0\0,si\0\x31\x30.0.0.2\0\0\0\0\0\0\x1f\x41".to_vec()]
    );
    remote.record_start("場面", 7);
    assert_eq!(
        sent(&mut remote, 1),
        [b"/RecordStart\0\0\0\0,si\0\xe5\xa0\xb4\xe9\x9d\xa2\0\0\0\0\0\x07".to_vec()]
    );
    remote.record_stop();
    // The start had no answer yet, and a stop is what counts now.
    assert_eq!(sent(&mut remote, 2), [b"/RecordStop\0,\0\0\0".to_vec()]);
    remote.slate("ab");
    remote.take(258);
    remote.stream(true);
    remote.stream(false);
    assert_eq!(
        sent(&mut remote, 3),
        [
            b"/Slate\0\0,s\0\0ab\0\0".to_vec(),
            b"/Take\0\0\0,i\0\0\0\0\x01\x02".to_vec(),
            b"/LiveLinkStreamStart\0\0\0\0,\0\0\0".to_vec(),
            b"/LiveLinkStreamStop\0,\0\0\0".to_vec(),
        ]
    );
    remote.stream_to("10.0.0.2:11111".parse().unwrap());
    says(&mut remote, 4, b"/OSCSetSendTargetConfirm\0\0\0\0,\0\0\0").unwrap();
    assert_eq!(
        sent(&mut remote, 4),
        [
            b"/AddLiveLinkAddress\0,si\0\x31\x30.0.0.2\0\0\0\0\0\0\x2b\x67".to_vec(),
            b"/BatteryQuery\0\0\0,\0\0\0".to_vec(),
            b"/ThermalsQuery\0\0,\0\0\0".to_vec(),
        ]
    );
}

#[test]
fn the_target_is_told_ever_more_rarely_until_anything_comes() {
    let mut remote = remote();
    let asked = times(&mut remote, 0, 130_000, "/OSCSetSendTarget");
    assert_eq!(
        asked,
        [0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000, 121_000]
    );
    assert!(!remote.status().is_reachable);
    says(
        &mut remote,
        130_000,
        b"/OSCSetSendTargetConfirm\0\0\0\0,\0\0\0",
    )
    .unwrap();
    assert!(remote.status().is_reachable);
    assert_eq!(remote.status().last_answer, Some(ms(130_000)));
    assert_eq!(events(&mut remote), [PhoneEvent::Reachable]);
    let asked = times(&mut remote, 130_000, 139_000, "/OSCSetSendTarget");
    assert!(asked.is_empty(), "{asked:?}");
}

#[test]
fn without_an_address_of_ours_nothing_is_asked_and_orders_still_go() {
    let mut remote = PhoneRemote::new(phone());
    assert!(sent(&mut remote, 0).is_empty());
    assert!(remote.record_start("S", 1));
    assert_eq!(address_of(&sent(&mut remote, 1)[0]), "/RecordStart");
}

#[test]
fn battery_and_thermals_are_asked_each_half_minute_and_silence_is_noticed() {
    let mut remote = remote();
    says(&mut remote, 0, b"/OSCSetSendTargetConfirm\0\0\0\0,\0\0\0").unwrap();
    assert_eq!(times(&mut remote, 0, 50, "/BatteryQuery"), [0]);
    says(&mut remote, 60, b"/Battery\0\0\0\0,f\0\0\x3f\x40\0\0").unwrap();
    says(&mut remote, 70, b"/Thermals\0\0\0,i\0\0\0\0\0\x02").unwrap();
    assert_eq!(remote.status().battery, Some(0.75));
    assert_eq!(remote.status().thermals, Some(2));
    assert_eq!(
        events(&mut remote),
        [
            PhoneEvent::Reachable,
            PhoneEvent::Battery(0.75),
            PhoneEvent::Thermals(2)
        ]
    );
    assert_eq!(times(&mut remote, 100, 30_100, "/ThermalsQuery"), [30_000]);
    assert!(remote.status().is_reachable);
    // Asked at 30 s, no answer: lost at 40 s, and the target is told again.
    let asked = times(&mut remote, 30_100, 44_000, "/OSCSetSendTarget");
    assert_eq!(asked, [40_000, 41_000, 43_000]);
    assert_eq!(events(&mut remote), [PhoneEvent::Lost]);
    assert!(!remote.status().is_reachable);
    // A query of the operator's goes out with the next answer, not into the void.
    remote.query();
    assert!(times(&mut remote, 44_000, 44_500, "/BatteryQuery").is_empty());
    says(&mut remote, 44_500, b"/AppActivated\0\0\0,\0\0\0").unwrap();
    assert_eq!(
        times(&mut remote, 44_500, 45_000, "/BatteryQuery"),
        [44_500]
    );
    remote.query();
    assert_eq!(
        times(&mut remote, 45_000, 46_000, "/BatteryQuery"),
        [45_000]
    );
}

#[test]
fn a_lost_start_is_said_again_and_an_answered_one_never() {
    let mut remote = remote();
    assert!(remote.record_start("S", 4));
    assert!(!remote.record_start("S", 4), "the same take");
    assert_eq!(remote.status().recording, Recording::Starting);
    let starts = times(&mut remote, 0, 900, "/RecordStart");
    assert_eq!(starts, [0, 500]);
    says(&mut remote, 900, &started()).unwrap();
    assert_eq!(remote.status().recording, Recording::On);
    assert!(!remote.has_order());
    assert!(!remote.record_start("S", 4), "the same take");
    // Both starts arrived: the second answer is no second recording.
    says(&mut remote, 950, &started()).unwrap();
    assert!(times(&mut remote, 950, 9000, "/RecordStart").is_empty());
    assert_eq!(events(&mut remote), [PhoneEvent::Reachable, began(true)]);
}

#[test]
fn an_order_that_nobody_answers_is_said_four_times() {
    let mut remote = remote();
    remote.record_start("S", 1);
    let starts = times(&mut remote, 0, 9000, "/RecordStart");
    assert_eq!(starts, [0, 500, 1000, 1500]);
    assert_eq!(remote.status().recording, Recording::StartUnanswered);
    assert!(!remote.has_order());
    assert_eq!(events(&mut remote), [PhoneEvent::StartUnanswered]);
    // It may have arrived all the same: the stop is said.
    assert!(remote.record_stop());
    assert!(!remote.record_stop(), "already ordered");
    let stops = times(&mut remote, 9000, 19_000, "/RecordStop");
    assert_eq!(stops, [9000, 9500, 10_000, 10_500]);
    assert_eq!(remote.status().recording, Recording::StopUnanswered);
    assert_eq!(events(&mut remote), [PhoneEvent::StopUnanswered]);
    // An answer that comes late is one.
    says(&mut remote, 19_000, &stopped()).unwrap();
    assert_eq!(remote.status().recording, Recording::Off);
    assert_eq!(events(&mut remote), [PhoneEvent::Reachable, ended(true)]);
}

#[test]
fn a_start_right_after_a_lost_stop_says_the_stop_again_first() {
    let mut remote = remote();
    remote.record_start("S", 1);
    sent(&mut remote, 0);
    says(&mut remote, 10, &started()).unwrap();
    remote.record_stop();
    sent(&mut remote, 100);
    assert!(remote.record_start("S", 2));
    let all = sent(&mut remote, 200);
    let orders: Vec<_> = all.iter().map(|b| address_of(b)).take(2).collect();
    assert_eq!(orders, ["/RecordStop", "/RecordStart"]);
    // The answer to that stop does not end the new take.
    says(&mut remote, 210, &stopped()).unwrap();
    says(&mut remote, 220, &started()).unwrap();
    says(&mut remote, 230, &stopped()).unwrap();
    assert_eq!(remote.status().recording, Recording::On);
}

#[test]
fn a_recording_begun_on_the_phone_is_told_and_not_started_again() {
    let mut remote = remote();
    says(&mut remote, 0, &started()).unwrap();
    assert_eq!(events(&mut remote), [PhoneEvent::Reachable, began(false)]);
    // The hub follows: its take is this recording.
    assert!(!remote.record_start("S", 1));
    assert!(times(&mut remote, 0, 5000, "/RecordStart").is_empty());
    says(&mut remote, 5000, &stopped()).unwrap();
    assert_eq!(events(&mut remote), [ended(false)]);
    assert!(!remote.record_stop(), "it has stopped");
    assert!(times(&mut remote, 5000, 9000, "/RecordStop").is_empty());
    // Echoes of an order are no recording of the phone's own.
    remote.record_start("S", 2);
    sent(&mut remote, 10_000);
    says(&mut remote, 10_010, &started()).unwrap();
    remote.record_stop();
    sent(&mut remote, 10_100);
    says(&mut remote, 10_110, &stopped()).unwrap();
    events(&mut remote);
    says(&mut remote, 10_120, &started()).unwrap();
    assert_eq!(events(&mut remote), []);
    assert_eq!(remote.status().recording, Recording::Off);
}

#[test]
fn only_the_phone_is_believed() {
    let mut remote = remote();
    remote.record_start("S", 1);
    sent(&mut remote, 0);
    let elsewhere = "10.0.0.8:8000".parse().unwrap();
    assert_eq!(
        remote.handle(ms(1), elsewhere, &started()),
        Err(PhoneReject::Stranger)
    );
    assert_eq!(remote.status().recording, Recording::Starting);
    assert_eq!(remote.status().last_answer, None);
    // A socket of IPv6 that hears IPv4 writes addresses like this.
    let mapped = "[::ffff:10.0.0.7]:9".parse().unwrap();
    remote.handle(ms(2), mapped, &started()).unwrap();
    assert_eq!(remote.status().recording, Recording::On);
}

#[test]
fn a_bundle_counts_whole_or_not_at_all() {
    let bundle = |elements: &[Vec<u8>]| {
        let mut out = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
        for element in elements {
            out.extend((element.len() as i32).to_be_bytes());
            out.extend(element);
        }
        out
    };
    let good = osc("/Battery", ",f", &[&0.5f32.to_be_bytes()]);
    let bad = osc("/Thermals", ",i", &[&9i32.to_be_bytes()]);
    let mut remote = remote();
    let range = Reject::OutOfRange {
        what: "thermal state",
        have: 9,
        min: 0,
        max: 3,
    };
    assert_eq!(
        says(&mut remote, 0, &bundle(&[good.clone(), bad])),
        Err(range.into())
    );
    assert_eq!(remote.status(), PhoneStatus::default());
    says(&mut remote, 1, &bundle(&[good])).unwrap();
    assert_eq!(remote.status().battery, Some(0.5));
}

#[test]
fn nonsense_is_refused_and_nothing_is_learnt_from_it() {
    let mut remote = remote();
    for (bytes, why) in [
        (b"hello".to_vec(), "not a packet"),
        (osc("/Battery", ",", &[]), "expected a number"),
        (
            osc("/Battery", ",f", &[&f32::NAN.to_be_bytes()]),
            "not finite",
        ),
        (
            osc("/Battery", ",f", &[&1.5f32.to_be_bytes()]),
            "battery percent 150",
        ),
        (
            osc("/Thermals", ",i", &[&(-1i32).to_be_bytes()]),
            "thermal state -1",
        ),
        (osc("/Thermals", ",i", &[&[0; 2]]), "cut short"),
    ] {
        let error = says(&mut remote, 0, &bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(remote.status(), PhoneStatus::default());
    }
    assert_eq!(events(&mut remote), []);
    // iOS says −1 while it does not know.
    says(
        &mut remote,
        1,
        &osc("/Battery", ",f", &[&(-1f32).to_be_bytes()]),
    )
    .unwrap();
    assert_eq!(remote.status().battery, None);
}

#[test]
fn texts_of_the_phone_are_bounded_and_without_control_characters() {
    let mut remote = remote();
    remote.record_start("a\u{1b}[2J\u{0}\nb", 1);
    let start = sent(&mut remote, 0).remove(0);
    assert_eq!(start, b"/RecordStart\0\0\0\0,si\0a[2Jb\0\0\0\0\0\0\x01");
    says(&mut remote, 1, &started()).unwrap();
    remote.record_stop();
    sent(&mut remote, 2);
    let path = string(&format!("\u{1b}{}", "演".repeat(300)));
    let long = osc(
        "/RecordStopConfirm",
        ",sss",
        &[&string("x"), &path, &string("m")],
    );
    says(&mut remote, 3, &long).unwrap();
    let Some(PhoneEvent::RecordStopped { csv, mov, .. }) = events(&mut remote).pop() else {
        panic!("it stopped")
    };
    // 170 characters of three bytes each fit into 512.
    assert_eq!(csv, "演".repeat(170));
    assert_eq!(mov, "m");
    assert!(clean(&"演".repeat(100), MAX_SLATE_BYTES).len() <= 256);
}

#[test]
fn an_app_in_the_background_is_not_reachable_until_it_is_back() {
    let mut remote = remote();
    says(&mut remote, 0, &osc("/ARSessionStartConfirm", ",", &[])).unwrap();
    says(&mut remote, 1, &osc("/AppDeactivated", ",", &[])).unwrap();
    let status = remote.status();
    assert_eq!(status.has_ar_session, Some(true));
    assert_eq!(
        (status.is_active, status.is_reachable),
        (Some(false), false)
    );
    assert_eq!(times(&mut remote, 1, 1501, "/OSCSetSendTarget"), [1001]);
    says(&mut remote, 2000, &osc("/AppActivated", ",", &[])).unwrap();
    says(&mut remote, 2001, &osc("/ARSessionStopConfirm", ",", &[])).unwrap();
    let status = remote.status();
    assert_eq!((status.is_active, status.is_reachable), (Some(true), true));
    assert_eq!(
        events(&mut remote),
        [
            PhoneEvent::Reachable,
            PhoneEvent::ArSession(true),
            PhoneEvent::AppDeactivated,
            PhoneEvent::Reachable,
            PhoneEvent::AppActivated,
            PhoneEvent::ArSession(false),
        ]
    );
}

#[test]
fn a_flood_is_cut_off_and_events_are_bounded() {
    let mut remote = remote();
    let battery = osc("/Battery", ",f", &[&0.5f32.to_be_bytes()]);
    for _ in 0..100 {
        says(&mut remote, 0, &battery).unwrap();
    }
    assert_eq!(
        says(&mut remote, 999, &battery),
        Err(Reject::TooFast { limit: 100 }.into())
    );
    says(&mut remote, 1000, &battery).unwrap();
    assert_eq!(events(&mut remote).len(), MAX_EVENTS);
    for _ in 0..100 {
        remote.stream(true);
    }
    let streams = sent(&mut remote, 1000);
    let streams = streams
        .iter()
        .filter(|b| address_of(b) == "/LiveLinkStreamStart");
    assert_eq!(streams.count(), MAX_WAITING);
}
