#!/usr/bin/env python3
"""How fast the Python peer decodes a face packet: the figure our Rust bench is set beside.

Witness: PyLiveLinkFace 0.1 (PyPI `pylivelinkface`). It decodes one 319-byte packet (36-character
device id, 13-character name) 2000 times, five runs over, and the best run counts. Needs no ghostlight.
Prints one JSON object: packets_per_sec, nanos_per_packet, packet_bytes, loops, runs, python, library.
"""

import argparse
import json
import platform
import struct
import time

import peerlib

RUNS, LOOPS = 5, 2000


def packet() -> bytes:
    device, name = b"00000000-0000-4000-8000-000000000001", b"Sample_iPhone"
    curves = [i / 64 for i in range(61)]
    return (
        struct.pack(">Bi", 6, len(device)) + device
        + struct.pack(">i", len(name)) + name
        + struct.pack(">ifiiB61f", 1095835, 0.345303, 60, 1, 61, *curves)
    )  # fmt: skip


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    peerlib.need_peer_python()
    from importlib.metadata import version

    from pylivelinkface import PyLiveLinkFace

    data = packet()
    assert len(data) == 319
    has_face, face = PyLiveLinkFace.decode(data)
    assert has_face and face.name == "Sample_iPhone" and tuple(face._blend_shapes) == peerlib.unpack(data).curves
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter_ns()
        for _ in range(LOOPS):
            PyLiveLinkFace.decode(data)
        best = min(best, (time.perf_counter_ns() - start) / LOOPS)
    print(
        json.dumps(
            {
                "packets_per_sec": round(1e9 / best),
                "nanos_per_packet": round(best),
                "packet_bytes": len(data),
                "loops": LOOPS,
                "runs": RUNS,
                "python": platform.python_version(),
                "library": f"pylivelinkface {version('pylivelinkface')}",
            }
        )
    )


if __name__ == "__main__":
    main()
