#!/usr/bin/env python3
"""VMC against an implementation of OSC we did not write: python-osc -> record -> take.

Witness: python-osc 1.10.2 (PyPI `python-osc`, public domain), which knows OSC and nothing of VMC; the
frame it writes is spelled out here from the specification (protocols.md, section 3).

A body of the 55 bones of Unity and a face of 52 expressions is sent at 60/s, in the three ways senders
have; each time the take must hold one animation subject with every frame, and nothing may be lost.

  bundle     one bundle per frame, some 8 kB, left to IP fragmentation
  mtu        several bundles of at most 1400 bytes per frame
  unbundled  every message in a datagram of its own, 111 per frame

What the values are is held by the unit tests; here it is that every frame arrives, once.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import peerlib
from peerlib import WEIGHTS, need

FPS = 60
MTU = 1400
TRUNK = "Hips Spine Chest UpperChest Neck Head LeftEye RightEye Jaw".split()
LIMBS = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes".split()
FINGERS = [f + j for f in "Thumb Index Middle Ring Little".split() for j in "Proximal Intermediate Distal".split()]
BONES = TRUNK + [side + part for side in ("Left", "Right") for part in LIMBS + FINGERS]
assert len(BONES) == len(set(BONES)) == 55


def need_python_osc() -> None:
    """Starts again under the environment setup.sh made, unless python-osc is importable already."""
    try:
        import pythonosc  # noqa: F401
    except ImportError:
        python = peerlib.PEERS / "venv" / "bin" / "python"
        if os.environ.get("GHOSTLIGHT_PEER_PYTHON") or not python.exists():
            sys.exit(f"python-osc is not installed: run {Path(__file__).parent.relative_to(peerlib.REPO)}/setup.sh")
        os.environ["GHOSTLIGHT_PEER_PYTHON"] = "1"
        os.execv(python, [str(python), *sys.argv])


def message(address: str, *args):
    from pythonosc.osc_message_builder import OscMessageBuilder

    builder = OscMessageBuilder(address)
    for arg in args:
        builder.add_arg(arg)
    return builder.build()


def bundle(messages) -> bytes:
    from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder

    builder = OscBundleBuilder(IMMEDIATELY)
    for m in messages:
        builder.add_content(m)
    return builder.build().dgram


def frame(number: int) -> list:
    """One frame's messages; floats throughout, as the types are part of the protocol."""
    t = number / FPS
    messages = [
        message("/VMC/Ext/OK", 1, 3, 0, 1),
        message("/VMC/Ext/T", t),
        message("/VMC/Ext/Root/Pos", "root", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    ]
    for i, bone in enumerate(BONES):
        half = 0.2 * math.sin(2 * t + i)
        x, y, z = 0.01 * i, 0.95 if bone == "Hips" else 0.1, 0.0
        messages.append(message("/VMC/Ext/Bone/Pos", bone, x, y, z, 0.0, math.sin(half), 0.0, math.cos(half)))
    for i, name in enumerate(WEIGHTS):
        messages.append(message("/VMC/Ext/Blend/Val", name, 0.5 + 0.5 * math.sin(t + i)))
    messages.append(message("/VMC/Ext/Blend/Apply"))
    return messages


def by_mtu(messages: list) -> list[bytes]:
    datagrams, group, size = [], [], 16
    for m in messages:
        if group and size + 4 + m.size > MTU:
            datagrams.append(bundle(group))
            group, size = [], 16
        group.append(m)
        size += 4 + m.size
    datagrams.append(bundle(group))
    need(all(len(d) <= MTU for d in datagrams), "python-osc: expected bundles of at most 1400 bytes")
    return datagrams


WAYS = {
    "bundle": lambda messages: [bundle(messages)],
    "mtu": by_mtu,
    "unbundled": lambda messages: [m.dgram for m in messages],
}


def subjects_of(take: str) -> list[dict]:
    info = peerlib.run("take", "info", take, "--json")
    found = [e["info"]["subjects"] for e in info.events if isinstance(e.get("info"), dict)]
    need(len(found) == 1, f"take info: expected one event with info, found {json.dumps(info.events)}")
    return found[0]


def check(way: str, args, scratch: Path) -> None:
    sent = [WAYS[way](frame(number)) for number in range(args.frames)]
    packets = [(number / FPS, d) for number, datagrams in enumerate(sent) for d in datagrams]

    seconds = args.frames / FPS + 20
    recorder = peerlib.Process(
        "record", "--source", "vmc=127.0.0.1:0", "--slate", f"Vmc-{way}", "--take", "1",
        "--seconds", f"{seconds:g}", "--out", str(scratch / way), "--json",
    )  # fmt: skip
    event = recorder.wait_for("listening", 20)
    need(event.get("source") == "vmc", f"listening event: expected source vmc, found {event}")
    host, _, port = str(event.get("addr", "")).rpartition(":")
    need(host == "127.0.0.1" and port.isdigit(), f"listening event: expected addr 127.0.0.1:PORT, found {event}")
    peerlib.send_paced((host, int(port)), packets)
    time.sleep(0.3)  # let the last datagrams be read
    recorder.process.send_signal(signal.SIGINT)
    recorder.finish(20)

    takes = recorder.only("take")
    need(len(takes) == 1, f"record: expected one take event, found {takes or recorder.events}")
    take = takes[0]
    need(take.get("frames") == args.frames, f"take event: expected frames {args.frames}, found {take}")
    need(take.get("lost") == 0, f"take event: expected lost 0, found {take}")
    peerlib.verify_take(take["path"], args.frames)

    subjects = subjects_of(take["path"])
    need(len(subjects) == 1, f"take info: expected one subject, found {subjects}")
    for key, expected in (
        ("name", "VMC"),
        ("role", "animation"),
        ("source", "vmc/127.0.0.1"),
        ("frames", args.frames),
        ("lost", 0),
        ("duplicate", 0),
        ("refused", 0),
    ):
        need(subjects[0].get(key) == expected, f"take info: expected {key} {expected!r}, found {subjects[0]}")
    print(
        f"ok {way}: {args.frames} frames of 55 bones and 52 expressions by python-osc, {len(packets)} datagrams of at most "
        f"{max(len(d) for _, d in packets)} bytes; the take holds one animation subject with all of them"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="bundle, mtu, unbundled (default: all)")
    parser.add_argument("--frames", type=int, default=150, help="frames each way, sent at 60/s (default: 150)")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    unknown = [c for c in args.checks if c not in WAYS]
    if unknown or not 10 <= args.frames <= 3600:
        parser.error(f"unknown check {unknown[0]}" if unknown else "--frames must be 10..3600")
    need_python_osc()
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120 + 3 * args.frames // FPS, keep=args.keep) as scratch:
            for way in args.checks or WAYS:
                check(way, args, scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
