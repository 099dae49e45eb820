#!/usr/bin/env python3
"""VMC as another author's library words it: vmcp -> hub -> JSON stream, and vmcp's reading of what we send.

Witness: vmcp 1.0.6 (PyPI `vmcp`), which makes and checks the messages of the protocol. It leaves the bytes to an OSC
library; here that is python-osc 1.10.2. vmcp is under AGPL-3.0-or-later: it is only run here, as a program beside ours,
and is no part of what is built.

  in   root, 55 bones, 52 expressions, state and time of vmcp arrive with their values, in the house frame
  out  what comes out as VMC is taken by vmcp's own events
"""

from __future__ import annotations

import argparse
import socket
import sys
from enum import Enum

import hublib
import peerlib
from hublib import BONES, face_curves, messages_of, near, same_rotation
from peerlib import WEIGHTS, need

FRAMES = 60
Key = Enum("Key", {name: name for name in WEIGHTS}, type=str)


def osc_bundle(words) -> bytes:
    """vmcp's words as bytes: each an address, type tags and arguments."""
    from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
    from pythonosc.osc_message_builder import OscMessageBuilder

    bundle = OscBundleBuilder(IMMEDIATELY)
    for address, tags, arguments in words:
        message = OscMessageBuilder(address)
        for tag, argument in zip(tags[1:], arguments, strict=True):
            message.add_arg(argument, tag)
        bundle.add_content(message.build())
    return bundle.build().dgram


def frame(number: int) -> bytes:
    from vmcp import protocol as vmc
    from vmcp.typing import (
        Bone,
        CalibrationMode,
        CalibrationState,
        CoordinateVector,
        ModelState,
        Quaternion,
        Timestamp,
        TrackingState,
    )

    need([b.value for b in Bone if b.value not in BONES] == [], "vmcp knows other bones than Unity")
    calibrated = CalibrationState.CALIBRATED, CalibrationMode.NORMAL, TrackingState.OK
    words = [
        vmc.state(ModelState.LOADED, *calibrated),
        vmc.time(Timestamp(number / 60)),
        vmc.root_transform(CoordinateVector(0.25, 0.0, -1.5), Quaternion.identity()),
    ]
    for i, name in enumerate(BONES):
        position, rotation = hublib.unity_pose(number, i)
        words.append(vmc.bone_transform(Bone(name), CoordinateVector(*position), Quaternion(*rotation)))
    for name, value in zip(WEIGHTS, face_curves(number)):
        words.append(vmc.blendshape(Key(name), float(value)))
    words.append(vmc.blendshape_apply())
    return osc_bundle(words)


def check(scratch) -> None:
    from vmcp import events

    receiver = hublib.Receiver()
    stage = '[[source]]\nkind = "vmc"\nlisten = "127.0.0.1:0"\n'
    stage += f'[[output]]\nkind = "vmc"\nmode = "pass"\nmax_rate = 1000\nto = ["{receiver.address}"]\n'
    stage += '[[output]]\nkind = "websocket"\nlisten = "127.0.0.1:0"\nmode = "pass"\nmax_rate = 1000\n'
    hub = hublib.Hub(scratch, stage)
    page = hublib.Page(hub.page_address())
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    frames = []
    for number in range(FRAMES):
        out.sendto(frame(number), hub.sources["vmc"])
        frames += page.read(1 / 60)
    frames += page.read(0.3)
    page.close()
    datagrams = receiver.read(0.3)
    hub.stop()

    need(len(frames) >= FRAMES - 5, f"in: expected {FRAMES} frames less those before the first look, found {len(frames)}")
    for of, message in frames:
        curves = dict(zip(of["curves"], message["curves"], strict=True))
        number = round(curves["JawOpen"] * 1000)
        need(message["tracking"] == "tracked", f"expected tracked, found {message['tracking']}")
        for name, expected in zip(WEIGHTS, face_curves(number)):
            near(f"in: {name} of frame {number}", expected, curves[name], 1e-5)
        places = [("root", [0.25, 0.0, -1.5], [0.0, 0.0, 0.0, 1.0])]
        places += [(bone, *hublib.unity_pose(number, i)) for i, bone in enumerate(BONES)]
        for bone, (x, y, z), (qx, qy, qz, qw) in places:
            at = 7 * of["bones"].index(bone)
            found = message["bones"][at : at + 7]
            for expected, value in zip((-x, y, z), found):
                near(f"in: position of {bone} of frame {number}", expected, value, 1e-5)
            same_rotation(f"in: rotation of {bone} of frame {number}", [qx, -qy, -qz, qw], found[3:], 1e-5)

    kinds = {
        "/VMC/Ext/OK": events.StateEvent,
        "/VMC/Ext/T": events.RelativeTimeEvent,
        "/VMC/Ext/Root/Pos": events.RootTransformEvent,
        "/VMC/Ext/Bone/Pos": events.BoneTransformEvent,
        "/VMC/Ext/Blend/Val": events.BlendShapeEvent,
        "/VMC/Ext/Blend/Apply": events.BlendShapeApplyEvent,
    }
    need(len(datagrams) >= FRAMES - 5, f"out: expected {FRAMES} frames less those before the first look, found {len(datagrams)}")
    taken = 0
    for message in (m for d in datagrams for m in messages_of(d)):
        need(message.address in kinds, f"out: expected a message of a performer, found {message.address}")
        try:
            kinds[message.address].from_message_data("peer", message.address, tuple(message.params))
        except (ValueError, TypeError, IndexError) as error:
            raise peerlib.Fault(f"out: vmcp refuses {message.address} {message.params}: {error}") from None
        taken += 1
    print(
        f"ok vmcp: {len(frames)} frames of vmcp's words arrive within 1e-5; of {len(datagrams)} frames out vmcp takes all "
        f"{taken} messages"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    hublib.need_packages("pythonosc", "vmcp", "websockets")
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120, keep=args.keep) as scratch:
            check(scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
