#!/usr/bin/env python3
"""The generic OSC output, received by an implementation of OSC we did not write.

Witness: python-osc 1.10.2 (PyPI `python-osc`). The addresses are those of docs/outputs.md: a prefix, the subject, then
`tracking`, `curve/NAME` or `bone/NAME`, with names escaped as in URLs. They are made here with Python's own `quote`.

A phone called 演員 and a VMC body go in; every curve and every bone must come out with its number, in frames and in
bundles of at most 1400 bytes.
"""

from __future__ import annotations

import argparse
import socket
import sys
from urllib.parse import quote

import hublib
import peerlib
from hublib import BONES, face_curves, messages_of, near, same_rotation
from peerlib import CURVES, WEIGHTS, need

FRAMES = 120


def check(scratch, bundle: str) -> None:
    from vmc_out_peer import body_bundle

    receiver = hublib.Receiver()
    stage = "".join(f'[[source]]\nkind = "{k}"\nlisten = "127.0.0.1:0"\n' for k in ("livelinkface", "vmc"))
    stage += f'[[output]]\nkind = "osc"\nmode = "pass"\nmax_rate = 1000\nbundle = "{bundle}"\nprefix = "/stage"\nto = ["{receiver.address}"]\n'
    hub = hublib.Hub(scratch, stage)
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams = []
    for number in range(FRAMES):
        out.sendto(hublib.face_packet("演員", 1000 + number, face_curves(number)), hub.sources["livelinkface"])
        out.sendto(body_bundle(number), hub.sources["vmc"])
        datagrams += receiver.read(1 / 60)
    datagrams += receiver.read(0.3)
    hub.stop()
    limit = 1400 if bundle == "mtu" else 65507
    longest = max(len(d) for d in datagrams)
    need(longest <= limit, f"expected datagrams of at most {limit} bytes, found {longest}")

    # Messages of a frame follow one another and begin with its `tracking`.
    frames: dict[str, list[dict]] = {}
    for message in (m for d in datagrams for m in messages_of(d)):
        need(message.address.startswith("/stage/"), f"expected the prefix /stage, found {message.address}")
        _, _, subject, rest = message.address.split("/", 3)
        if rest == "tracking":
            need(message.params == [1], f"{message.address}: expected the integer 1, found {message.params}")
            frames.setdefault(subject, []).append({})
        else:
            need(subject in frames, f"expected tracking first, found {message.address}")
            frames[subject][-1][rest] = message.params
    face, body = quote("演員", safe=""), "VMC"
    need(set(frames) == {face, body}, f"expected subjects {face} and {body}, found {sorted(frames)}")
    for subject, all_frames in frames.items():
        need(len(all_frames) >= FRAMES - 5, f"{subject}: expected {FRAMES} frames less those before the first look, found {len(all_frames)}")
    for frame in frames[face]:
        need(set(frame) == {f"curve/{c}" for c in CURVES}, f"expected 61 curves, found {sorted(frame)}")
        number = round(frame["curve/JawOpen"][0] * 1000)
        for name, expected in zip(CURVES, face_curves(number)):
            near(f"{name} of frame {number}", expected, frame[f"curve/{name}"][0], 1e-6)
    addresses = {f"bone/{b}" for b in ["root", *BONES]} | {f"curve/{w}" for w in WEIGHTS}
    for frame in frames[body]:
        need(set(frame) == addresses, f"expected root, 55 bones and 52 curves, found {sorted(set(frame) ^ addresses)}")
        number = round(frame["curve/JawOpen"][0] * 1000)
        for i, bone in enumerate(BONES):
            (x, y, z), (qx, qy, qz, qw) = hublib.unity_pose(number, i)
            found = frame[f"bone/{bone}"]
            # Unity's x is the figure's right; the house's is its left.
            for expected, value in zip((-x, y, z), found):
                near(f"position of {bone} of frame {number}", expected, value, 1e-5)
            same_rotation(f"rotation of {bone} of frame {number}", [qx, -qy, -qz, qw], found[3:], 1e-5)
    print(
        f"ok {bundle}: {len(frames[face])} frames of a face and {len(frames[body])} of a body as OSC, in datagrams of at most "
        f"{longest} bytes, read by python-osc"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    hublib.need_packages("pythonosc")
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120, keep=args.keep) as scratch:
            for bundle in ("frame", "mtu"):
                check(scratch, bundle)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
