#!/usr/bin/env python3
"""The JSON stream of the WebSocket output, message by message against its schema.

Witnesses: PyPI `websockets` 17.4 as the page, PyPI `jsonschema` 4.26.0 (draft 2020-12) as the judge of
docs/output-json.schema.json.

A phone called 演員, a VMC body and a FreeD camera go in. Every message must be valid; hello comes first, a static message
before the first frame of each subject; values are those that were sent. A page that joins late has all names at once.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
from collections import Counter

import hublib
import peerlib
from hublib import BONES, face_curves, near, same_rotation
from peerlib import CURVES, REPO, WEIGHTS, need

FRAMES = 120
SOURCES = ("livelinkface", "vmc", "freed")


def camera_message(pan_deg: float, height_mm: float) -> bytes:
    """FreeD D1 of camera 3, by the free-d manual."""
    data = bytes([0xD1, 3])
    for value in (pan_deg * 32768, 0, 0, 0, 0, height_mm * 64):
        data += (int(value) & 0xFFFFFF).to_bytes(3, "big")
    data += (1000).to_bytes(3, "big") + (2000).to_bytes(3, "big") + bytes(2)
    return data + bytes([(0x40 - sum(data)) % 256])


def check(scratch) -> None:
    from jsonschema import Draft202012Validator

    from vmc_out_peer import body_bundle

    schema = json.loads((REPO / "docs" / "output-json.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    judge = Draft202012Validator(schema)

    stage = "".join(f'[[source]]\nkind = "{k}"\nlisten = "127.0.0.1:0"\n' for k in SOURCES)
    stage += '[[output]]\nkind = "websocket"\nlisten = "127.0.0.1:0"\nmode = "pass"\nmax_rate = 1000\n'
    hub = hublib.Hub(scratch, stage)
    address = hub.page_address()
    page, late = hublib.Page(address), None
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    frames = []
    for number in range(FRAMES):
        out.sendto(hublib.face_packet("演員", 1000 + number, face_curves(number)), hub.sources["livelinkface"])
        out.sendto(body_bundle(number), hub.sources["vmc"])
        out.sendto(camera_message(10.0, 1500.0), hub.sources["freed"])
        frames += page.read(1 / 60)
        if number == FRAMES // 2:
            late = hublib.Page(address)
    frames += page.read(0.3)
    late.read(0.3)
    need(len(late.messages) >= 7, f"late page: expected hello, three statics and three frames, found {len(late.messages)} messages")
    kinds = [m["type"] for m in late.messages[:7]]
    need(kinds == ["hello"] + ["static"] * 3 + ["frame"] * 3, f"late page: expected hello, statics, frames, found {kinds}")
    late.close()
    page.close()
    hub.stop()

    for message in page.messages + late.messages:
        faults = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in judge.iter_errors(message)]
        need(faults == [], f"not valid by the schema: {faults[:3]} in {json.dumps(message)[:300]}")
    need(page.messages[0]["type"] == "hello", f"expected hello first, found {page.messages[0]}")
    count = Counter(m.get("subject") for m in page.messages if m["type"] == "frame")
    need(set(count) == {"演員", "VMC", "Camera 3"}, f"expected three subjects, found {dict(count)}")
    for subject, frames_of_it in count.items():
        need(frames_of_it >= FRAMES - 5, f"{subject}: expected {FRAMES} frames less those before the first look, found {frames_of_it}")
    roles = {s: m["role"] for s, m in page.statics.items()}
    need(roles == {"演員": "basic", "VMC": "animation", "Camera 3": "camera"}, f"roles: found {roles}")

    for of, frame in frames:
        curves = dict(zip(of["curves"], frame["curves"], strict=True))
        if of["role"] == "basic":
            need(of["curves"] == CURVES, f"expected 61 curves, found {of['curves']}")
            number = round(curves["JawOpen"] * 1000)
            for name, expected in zip(CURVES, face_curves(number)):
                near(f"{name} of frame {number}", expected, curves[name], 1e-6)
            need(frame["timecode"].endswith(".000") and frame["rate"] == [60, 1], f"timecode: found {frame['timecode']} at {frame['rate']}")
        elif of["role"] == "animation":
            need(set(curves) == set(WEIGHTS), f"expected 52 expressions, found {sorted(curves)}")
            number = round(curves["JawOpen"] * 1000)
            need(len(frame["bones"]) == 7 * 56 == 7 * len(of["bones"]), f"bones: found {len(frame['bones'])} numbers")
            for i, bone in enumerate(BONES):
                at = 7 * of["bones"].index(bone)
                (x, y, z), (qx, qy, qz, qw) = hublib.unity_pose(number, i)
                for expected, value in zip((-x, y, z), frame["bones"][at : at + 3]):
                    near(f"position of {bone} of frame {number}", expected, value, 1e-5)
                same_rotation(f"rotation of {bone}", [qx, -qy, -qz, qw], frame["bones"][at + 3 : at + 7], 1e-5)
        else:
            near("height of the camera", 1.5, frame["transform"][1], 1e-6)
            # Ten degrees to the right are a negative turn about +Y.
            same_rotation("pan of the camera", [0.0, -0.087155743, 0.0, 0.996194698], frame["transform"][3:], 1e-5)
            near("zoom", 1000 / 0xFFFFFF, curves["zoom"], 1e-7)
    print(f"ok stream: {len(page.messages) + len(late.messages)} messages valid by the schema, frames {dict(count)}, values as sent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    hublib.need_packages("pythonosc", "websockets", "jsonschema")
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120, keep=args.keep) as scratch:
            check(scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
