#!/usr/bin/env python3
"""Live Link Face both ways against an implementation we did not write.

Witness: PyLiveLinkFace 0.1 by Jim West (PyPI `pylivelinkface`), and as third opinion a plain
struct unpack of the bytes on the wire (peerlib.py).

  to-hub    PyLiveLinkFace encodes frames and sends them by UDP to `ghostlight record`; the CSV
            that `ghostlight export` writes must hold what was on the wire.
  wild      the same with the library's own timecode, which jumps about within each second:
            every packet must still be in the take.
  from-hub  `ghostlight send livelinkface --synthetic` sends to this script; PyLiveLinkFace's
            decoder and the unpack must agree on every packet, and the values must be sane.

The library's habits, as read in its source and seen on the wire (they are part of the test):
  - the version is written as a little-endian u32, and the id gets a leading "$": byte for byte
    that is version 6, big-endian length 36, and the 36 characters of the id;
  - sub-frame is the constant integer 1056060032, which read as f32 is 0.4730;
  - set_blendshape averages the last five values; here the filter size is 1, and what is expected
    is unpacked from the bytes it really produced;
  - the microseconds of the wall clock end up as a fraction of a second, so its frame number
    jumps about; `to-hub` lends it a clock that makes it count one frame a packet.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import peerlib
from peerlib import CURVES, Fault, compare_rows, need, unpack

FPS = 60
NAME = "Peer_Python"
DEVICE = "00000000-0000-4000-8000-00000000000a"
CONSTANT_SUB_FRAME = struct.unpack(">f", struct.pack(">I", 1056060032))[0]


class LentClock:
    """Stands in for the `datetime` module inside pylivelinkface: one frame a tick."""

    def __init__(self, hour: int, minute: int, second: int):
        self.seconds, self.frame = (hour * 60 + minute) * 60 + second, 0
        self.datetime = self

    def now(self) -> SimpleNamespace:
        seconds = self.seconds + self.frame // FPS
        # The library turns microseconds * 0.001 into text behind a colon, and its timecode
        # package reads the digits after the point as a fraction of a second.
        microsecond = round(self.frame % FPS * 1000 / FPS)
        return SimpleNamespace(
            hour=seconds // 3600 % 24, minute=seconds // 60 % 60, second=seconds % 60, microsecond=microsecond
        )


def known_values(frame: int, rng: random.Random) -> list[float]:
    """Ramps, ends of range, tiny values and noise, so that swapped curves cannot hide."""
    values = []
    for i in range(61):
        if i < 52:
            value = ((i + 1) * 0.0171 + frame * 0.0031) % 1.0
        else:
            value = 0.6 * math.sin(0.05 * frame + i)
        values.append(value)
    values[frame % 52] = (0.0, 1.0, 1e-7, rng.random())[frame % 4]
    return values


def encode_frames(count: int, clock: LentClock | None, pause: float = 0.0) -> list[bytes]:
    import pylivelinkface.pylivelinkface as library
    from pylivelinkface import FaceBlendShape, PyLiveLinkFace

    need([s.name for s in FaceBlendShape] == CURVES, "PyLiveLinkFace's curve order differs from the wire table")
    rng = random.Random(11)
    real = library.datetime
    try:
        if clock is not None:
            library.datetime = clock
        face = PyLiveLinkFace(name=NAME, uuid=DEVICE, fps=FPS, filter_size=1)
        packets = []
        for frame in range(count):
            for shape, value in zip(FaceBlendShape, known_values(frame, rng)):
                face.set_blendshape(shape, value)
            if clock is not None:
                clock.frame = frame
            packets.append(face.encode())
            time.sleep(pause)
    finally:
        library.datetime = real
    return packets


def check_quirks(data: bytes) -> None:
    need(data[:4] == b"\x06\0\0\0" and data[4:5] == b"$", f"PyLiveLinkFace's head: expected 06000000 '$', found {data[:5]!r}")
    packet = unpack(data)
    need(packet.device == DEVICE, f"device id: expected {DEVICE}, found {packet.device}")
    need(packet.sub_frame == CONSTANT_SUB_FRAME, f"sub-frame: expected {CONSTANT_SUB_FRAME}, found {packet.sub_frame}")


def to_hub(args, scratch) -> None:
    clock = LentClock(10, 59, 58)
    sent = encode_frames(args.frames, clock)
    for data in sent:
        check_quirks(data)
    read = [unpack(data) for data in sent]
    for a, b in zip(read, read[1:]):
        need(b.frame == a.frame + 1, f"the lent clock failed: frame {a.frame} then {b.frame}")

    recorder = peerlib.Recorder(scratch / "to-hub", "PeerPython", seconds=args.frames / FPS + 20)
    peerlib.send_paced(recorder.addr, [(i / FPS, data) for i, data in enumerate(sent)])
    take, _ = recorder.stop(signal.SIGINT)
    need(take["frames"] == len(sent), f"take event: expected frames {len(sent)}, found {take}")
    need(take["lost"] == 0, f"take event: expected lost 0, found {take}")
    peerlib.verify_take(take["path"], len(sent))

    exported = peerlib.export_one_csv(take["path"], scratch / "csv")
    found, rate = peerlib.read_csv(exported, strict=True)
    need(rate == FPS, f"CSV frame rate by its timecode: expected {FPS}, found {rate}")
    # The constant is no time: the hub must read whole frames.
    expected = [peerlib.Row(f"frame {p.frame}", p.frame, 0.0, p.curves) for p in read]
    result = compare_rows(expected, found, "CSV against the wire")
    if args.out:
        peerlib.leave(take["path"], exported, args.out, scratch / "csv")
    need(len(found) == len(sent), f"CSV rows: expected {len(sent)}, found {len(found)}")
    print(
        f"ok to-hub: {len(sent)} packets of {len(sent[0])} bytes by PyLiveLinkFace, {len(found)} rows in the CSV, "
        f"greatest difference {result['max_error']:.1e} ({result['max_error_at']})"
    )


def wild(args, scratch) -> None:
    sent = encode_frames(min(args.frames, 60), None, pause=1 / FPS)
    read = [unpack(data) for data in sent]
    back = sum(b.frame <= a.frame for a, b in zip(read, read[1:]))
    distinct = len({p.frame for p in read})
    seconds = len(sent) / FPS + 1.5
    recorder = peerlib.Recorder(scratch / "wild", "PeerWild", seconds=seconds)
    peerlib.send_paced(recorder.addr, [(i / FPS, data) for i, data in enumerate(sent)])
    take, code = recorder.stop(by=None, accept=(0, 3))  # ends by itself after --seconds
    # Two packets of one timecode may count as one frame: the library sends such.
    need(
        distinct <= take["frames"] <= len(sent),
        f"take event: expected frames {distinct}..{len(sent)} from a sender with a jumping timecode, found {take}",
    )
    peerlib.verify_take(take["path"], take["frames"])
    rows, _ = peerlib.read_csv(peerlib.export_one_csv(take["path"], scratch / "csv-wild"), strict=True)
    print(
        f"ok wild: {len(sent)} packets, {back} of them with a timecode that went back; the take ended by itself, "
        f"holds {take['frames']} frames, exit code {code}; its CSV has {len(rows)} rows"
    )


def receive(sock: socket.socket, process: peerlib.Process, limit: float) -> list[tuple[float, bytes]]:
    """Packets until the sender has ended and nothing is left in the socket."""
    got, end = [], time.monotonic() + limit
    sock.settimeout(0.2)
    while True:
        if time.monotonic() > end:
            raise Fault(f"send: expected an end within {limit} s, still sending after {len(got)} packets")
        ended = process.process.poll() is not None
        try:
            data, _ = sock.recvfrom(65535)
            got.append((time.monotonic(), data))
        except TimeoutError:
            if ended:
                return got


def from_hub(args, scratch) -> None:
    from pylivelinkface import FaceBlendShape, PyLiveLinkFace

    seconds = args.frames / FPS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sock.bind(("127.0.0.1", 0))
        process = peerlib.Process(
            "send", "livelinkface", "--synthetic", "--seed", "7", "--to", "127.0.0.1:%d" % sock.getsockname()[1],
            "--subject", NAME, "--rate", str(FPS), "--seconds", f"{seconds:g}", "--json",
        )  # fmt: skip
        got = receive(sock, process, seconds + 20)
    process.finish(20)
    events = process.only("sent")
    need(len(events) == 1, f"send: expected one sent event, found {process.events}")
    need(events[0].get("frames") == len(got), f"sent event: expected frames {len(got)} as received, found {events[0]}")
    need(abs(len(got) - args.frames) <= 2, f"send: expected {args.frames} packets in {seconds:g} s at {FPS}/s, found {len(got)}")

    faces = []
    for n, (_, data) in enumerate(got):
        packet = unpack(data)
        has_face, decoded = PyLiveLinkFace.decode(data)
        need(has_face == (packet.curves is not None), f"packet {n}: PyLiveLinkFace says face {has_face}, its size says otherwise")
        need(packet.name == NAME, f"packet {n}: expected subject {NAME}, found {packet.name}")
        need(len(packet.device) == 36, f"packet {n}: device id: expected 36 characters as from the app, found {packet.device!r}")
        need(packet.rate == FPS, f"packet {n}: rate: expected {FPS}/1, found {packet.numerator}/{packet.denominator}")
        need(0 <= packet.sub_frame < 1, f"packet {n}: sub-frame: expected 0..1, found {packet.sub_frame}")
        if not has_face:
            continue
        faces.append(packet)
        need(decoded.name == NAME, f"packet {n}: PyLiveLinkFace read the name {decoded.name!r}, expected {NAME}")
        need(decoded.uuid == "$" + packet.device, f"packet {n}: PyLiveLinkFace read the id {decoded.uuid!r}, expected '$'{packet.device}")
        for key, expected, found in (
            ("frame", packet.frame, decoded._frames),
            ("sub-frame", packet.sub_frame, decoded._sub_frame),
            ("rate", (packet.numerator, packet.denominator), (decoded.fps, decoded._denominator)),
        ):
            need(expected == found, f"packet {n}: {key}: unpack {expected}, PyLiveLinkFace {found}")
        for i, shape in enumerate(FaceBlendShape):
            value = decoded.get_blendshape(shape)
            need(value == packet.curves[i], f"packet {n} {shape.name}: unpack {packet.curves[i]}, PyLiveLinkFace {value}")
            low, high = (0.0, 1.0) if i < 52 else (-math.pi, math.pi)
            need(math.isfinite(value) and low <= value <= high, f"packet {n} {shape.name}: expected {low:.3g}..{high:.3g}, found {value}")
    need(faces != [], "send --synthetic: expected packets with a face, found none")
    moving = sum(max(c) - min(c) > 0.01 for c in zip(*(p.curves for p in faces)))
    need(moving >= 10, f"send --synthetic: expected a performance, found only {moving} of 61 curves moving")

    # Time: each packet one frame on (the phone itself drifts by thousandths and may skip), and
    # the whole as long as the wall clock says.
    packets = [unpack(data) for _, data in got]
    steps = [b.at - a.at for a, b in zip(packets, packets[1:])]
    for n, step in enumerate(steps):
        need(step > 0, f"packet {n + 1}: timecode must rise, found a step of {step:.3f} frames")
    mean = sum(steps) / len(steps)
    need(abs(mean - 1) < 0.02, f"timecode: expected 1 frame a packet at {FPS}/s, found {mean:.4f}")
    wall = got[-1][0] - got[0][0]
    told = (packets[-1].at - packets[0].at) / FPS
    need(abs(wall - told) < 0.15 + 0.05 * told, f"pace: timecode ran {told:.3f} s, the wall clock {wall:.3f} s")

    # A face packet cut after its rate is what the app sends when it sees no face.
    no_face = next((d for _, d in got if unpack(d).curves is None), None)
    made_here = no_face is None
    no_face = no_face or got[0][1][:-245]
    need(unpack(no_face).curves is None, "no-face packet: expected the unpack to see no face")
    need(PyLiveLinkFace.decode(no_face)[0] is False, "no-face packet: expected PyLiveLinkFace to see no face")
    print(
        f"ok from-hub: {len(got)} packets of {len(got[0][1])} bytes read alike by PyLiveLinkFace and struct.unpack, "
        f"{moving} curves moving, {mean:.4f} frames a packet, {told:.2f} s of timecode in {wall:.2f} s; "
        f"no-face packet ({'cut here' if made_here else 'sent'}, {len(no_face)} bytes) read as no face"
    )


CHECKS = {"to-hub": to_hub, "wild": wild, "from-hub": from_hub}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="to-hub, wild, from-hub (default: all)")
    parser.add_argument("--frames", type=int, default=150, help="packets each way, sent at 60/s (default: 150)")
    parser.add_argument("--out", type=Path, help="leave take.csv and take.glb of to-hub here, for the gltf scripts")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    unknown = [c for c in args.checks if c not in CHECKS]
    if unknown or not 10 <= args.frames <= 3600:
        parser.error(f"unknown check {unknown[0]}" if unknown else "--frames must be 10..3600")
    peerlib.need_peer_python()
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120 + 3 * args.frames // FPS, keep=args.keep) as scratch:
            for name in args.checks or CHECKS:
                CHECKS[name](args, scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
