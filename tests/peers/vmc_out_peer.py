#!/usr/bin/env python3
"""A phone's face out as VMC, and a VMC body out as VMC, received by an implementation of OSC we did not write.

Witness: python-osc 1.10.2 (PyPI `python-osc`), which reads what comes out, and writes the body that goes in. What a
performer's messages are is spelled out here from the specification.

  face   Live Link Face in: 52 expressions under ARKit's names ("perfect sync"), neck and head that together turn as the
         phone says
  body   VMC in: 55 bones and 52 expressions, the same numbers come out within 1e-5
"""

from __future__ import annotations

import argparse
import math
import socket
import sys

import hublib
import peerlib
from hublib import BONES, face_curves, messages_of, near, same_rotation
from peerlib import CURVES, WEIGHTS, need

FRAMES = 120


def stage(source: str, to: str) -> str:
    return (
        f'[[source]]\nkind = "{source}"\nlisten = "127.0.0.1:0"\n'
        f'[[output]]\nkind = "vmc"\nmode = "pass"\nmax_rate = 1000\nto = ["{to}"]\n'
    )


def frame_of(datagram: bytes) -> tuple[dict, dict]:
    """Poses by bone and values by expression, of one bundle that is a whole frame."""
    poses, values, seen = {}, {}, []
    for message in messages_of(datagram):
        args = message.params
        seen.append(message.address)
        if message.address in ("/VMC/Ext/Root/Pos", "/VMC/Ext/Bone/Pos"):
            need(len(args) == 8 and isinstance(args[0], str), f"{message.address}: expected a name and 7 floats, found {args}")
            need(args[0] not in poses, f"{args[0]} is there twice")
            poses[args[0]] = [float(a) for a in args[1:]]
        elif message.address == "/VMC/Ext/Blend/Val":
            need(len(args) == 2 and isinstance(args[1], float), f"{message.address}: expected a name and a float, found {args}")
            need(args[0] not in values, f"{args[0]} is there twice")
            values[args[0]] = args[1]
    need(seen[:2] == ["/VMC/Ext/OK", "/VMC/Ext/T"], f"expected OK and T first, found {seen[:2]}")
    need(seen[-1] == "/VMC/Ext/Blend/Apply", f"expected Apply last, found {seen[-1]}")
    return poses, values


def play(scratch, source: str, packet) -> list[tuple[dict, dict]]:
    receiver = hublib.Receiver()
    hub = hublib.Hub(scratch, stage(source, receiver.address))
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams = []
    for number in range(FRAMES):
        out.sendto(packet(number), hub.sources[source])
        datagrams += receiver.read(1 / 60)
    datagrams += receiver.read(0.3)
    hub.stop()
    need(len(datagrams) >= FRAMES - 5, f"{source}: expected {FRAMES} frames less those before the first look, found {len(datagrams)}")
    return [frame_of(d) for d in datagrams]


def check_face(scratch) -> None:
    frames = play(scratch, "livelinkface", lambda n: hublib.face_packet("演員", 1000 + n, face_curves(n)))
    last = -1
    for poses, values in frames:
        need(list(values) == WEIGHTS, f"expected the 52 names of ARKit in their order, found {list(values)}")
        number = round(values["JawOpen"] * 1000)
        need(number > last, f"expected frames in order, found {last} and then {number}")
        last = number
        for name, expected in zip(WEIGHTS, face_curves(number)):
            near(f"{name} of frame {number}", expected, values[name], 1e-6)
        need(set(poses) == {"Neck", "Head"}, f"expected neck and head, found {list(poses)}")
        # About Unity's +Y a positive turn goes to the figure's right, as the phone's yaw does.
        halves = [math.asin(poses[bone][4]) for bone in ("Neck", "Head")]
        near("yaw of neck and head", 0.3, 2 * sum(halves), 1e-5)
        need(0 < halves[0] <= halves[1], f"expected the head to turn no less than the neck, found {halves}")
    print(f"ok face: {len(frames)} frames of a phone out as VMC, 52 expressions by ARKit's names and two bones, read by python-osc")


def body_bundle(number: int) -> bytes:
    from vmc_peer import bundle, message

    messages = [
        message("/VMC/Ext/OK", 1),
        message("/VMC/Ext/T", number / 60),
        message("/VMC/Ext/Root/Pos", "root", 0.25, 0.0, -1.5, 0.0, 0.0, 0.0, 1.0),
    ]
    for i, bone in enumerate(BONES):
        position, rotation = hublib.unity_pose(number, i)
        messages.append(message("/VMC/Ext/Bone/Pos", bone, *position, *rotation))
    for name, value in zip(WEIGHTS, face_curves(number)):
        messages.append(message("/VMC/Ext/Blend/Val", name, float(value)))
    messages.append(message("/VMC/Ext/Blend/Apply"))
    return bundle(messages)


def check_body(scratch) -> None:
    frames = play(scratch, "vmc", body_bundle)
    for poses, values in frames:
        number = round(values["JawOpen"] * 1000)
        need(set(values) == set(WEIGHTS), f"expected 52 expressions, found {len(values)}: {sorted(set(values) ^ set(WEIGHTS))}")
        for name, expected in zip(WEIGHTS, face_curves(number)):
            near(f"{name} of frame {number}", expected, values[name], 1e-5)
        need(set(poses) == {"root", *BONES}, f"expected the root and 55 bones, found {sorted(set(poses) ^ {'root', *BONES})}")
        for i, bone in enumerate(BONES):
            position, rotation = hublib.unity_pose(number, i)
            for axis in range(3):
                near(f"position of {bone} of frame {number}", position[axis], poses[bone][axis], 1e-5)
            same_rotation(f"rotation of {bone} of frame {number}", rotation, poses[bone][3:], 1e-5)
        for expected, found in zip([0.25, 0.0, -1.5], poses["root"]):
            near(f"position of the root of frame {number}", expected, found, 1e-5)
    print(f"ok body: {len(frames)} frames of 55 bones and 52 expressions in and out as VMC, the same within 1e-5")


CHECKS = {"face": check_face, "body": check_body}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="face, body (default: both)")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    if unknown := [c for c in args.checks if c not in CHECKS]:
        parser.error(f"unknown check {unknown[0]}")
    hublib.need_packages("pythonosc")
    peerlib.binary()
    assert CURVES[:52] == WEIGHTS

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120, keep=args.keep) as scratch:
            for name in args.checks or CHECKS:
                CHECKS[name](scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
