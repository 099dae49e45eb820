#!/usr/bin/env python3
"""PosiStageNet as another author's library reads it: the same bytes to pypsn and to ghostlight.

Witness: pypsn 0.2.3 (PyPI `pypsn`), which only reads. The bytes are packed here with `struct` from specification 2.03,
and both must read the same of them: names, positions, orientations, status.
"""

from __future__ import annotations

import argparse
import math
import socket
import struct
import sys

import hublib
import peerlib
from hublib import near, same_rotation
from peerlib import need

FRAMES = 120
TRACKERS = {1: "Cam A", 7: "Sword", 65534: "Head"}


def chunk(number: int, data: bytes, has_chunks: bool = False) -> bytes:
    assert len(data) < 1 << 15
    return struct.pack("<HH", number, len(data) | (has_chunks << 15)) + data


def header(number: int) -> bytes:
    return chunk(0, struct.pack("<QBBBB", 1_000_000 + number * 16_667, 2, 3, number % 256, 1))


def info(number: int) -> bytes:
    names = b"".join(chunk(i, chunk(0, name.encode()), True) for i, name in TRACKERS.items())
    return chunk(0x6756, header(number) + chunk(1, b"Peer") + chunk(2, names, True), True)


def data(number: int) -> bytes:
    def tracker(i: int) -> bytes:
        position = struct.pack("<3f", 1.5 + 0.001 * number, 2.0, -0.25 * (i % 16))
        # Pypsn passes over what is left when it is short, so the timestamp of eight bytes stands last.
        parts = chunk(0, position) + chunk(1, struct.pack("<3f", 0.06, 0.0, 0.0))
        parts += chunk(2, struct.pack("<3f", 0.1, 0.01 * number, 0.0)) + chunk(3, struct.pack("<f", 1.0))
        return chunk(i, parts + chunk(6, struct.pack("<Q", 1_000_000 + number * 16_667)), True)

    trackers = b"".join(tracker(i) for i in TRACKERS)
    return chunk(0x6755, header(number) + chunk(1, trackers, True), True)


def rotation(v: list[float]) -> list[float]:
    angle = math.sqrt(sum(c * c for c in v))
    scale = math.sin(angle / 2) / angle if angle else 0.5
    return [c * scale for c in v] + [math.cos(angle / 2)]


def check(scratch) -> None:
    import pypsn

    names = {t.tracker_id: t.tracker_name for t in pypsn.parse_psn_packet(info(0)).trackers}
    need(names == {i: n.encode() for i, n in TRACKERS.items()}, f"pypsn: expected the names of {TRACKERS}, found {names}")
    read = []
    for number in range(FRAMES):
        packet = pypsn.parse_psn_packet(data(number))
        need(packet.info.frame_id == number % 256, f"pypsn: expected frame {number}, found {packet.info.frame_id}")
        read.append({t.id: t for t in packet.trackers})
        need(set(read[-1]) == set(TRACKERS), f"pypsn: expected three trackers, found {list(read[-1])}")

    stage = '[[source]]\nkind = "psn"\nlisten = "127.0.0.1:0"\n'
    stage += '[[output]]\nkind = "websocket"\nlisten = "127.0.0.1:0"\nmode = "pass"\nmax_rate = 1000\n'
    hub = hublib.Hub(scratch, stage)
    page = hublib.Page(hub.page_address())
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.sendto(info(0), hub.sources["psn"])
    frames = []
    for number in range(FRAMES):
        out.sendto(data(number), hub.sources["psn"])
        frames += page.read(1 / 60)
    frames += page.read(0.3)
    page.close()
    hub.stop()

    ids = {name: i for i, name in TRACKERS.items()}
    need(set(page.statics) == set(ids), f"expected subjects {sorted(ids)}, found {sorted(page.statics)}")
    count = dict.fromkeys(ids, 0)
    for of, frame in frames:
        name = frame["subject"]
        count[name] += 1
        need(of["role"] == "transform", f"{name}: expected a transform, found {of['role']}")
        found = frame["transform"]
        # Which frame it is shows in x, which grows by a millimetre each.
        number = round((found[0] - 1.5) * 1000)
        need(0 <= number < FRAMES, f"{name}: expected x from 1.5 on, found {found[0]}")
        theirs = read[number][ids[name]]
        near(f"status of {name}", 1.0, theirs.status, 0.0)
        need(frame["tracking"] == "tracked", f"{name}: expected tracked, found {frame['tracking']}")
        # Theirs is left-handed with z away from the audience: z and the turns about x and y change sign.
        position, turn = list(theirs.pos), list(theirs.ori)
        for expected, value in zip((position[0], position[1], -position[2]), found):
            near(f"position of {name} of frame {number}", expected, value, 1e-6)
        same_rotation(f"rotation of {name} of frame {number}", rotation([-turn[0], -turn[1], turn[2]]), found[3:], 1e-6)
    for name, frames_of_it in count.items():
        need(frames_of_it >= FRAMES - 5, f"{name}: expected {FRAMES} frames less those before the first look, found {frames_of_it}")
    print(f"ok psn: {sum(count.values())} frames of three trackers, read by pypsn and by ghostlight alike")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    hublib.need_packages("pypsn", "websockets")
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=120, keep=args.keep) as scratch:
            check(scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
