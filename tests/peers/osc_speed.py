#!/usr/bin/env python3
"""How fast python-osc decodes a VMC frame: the figure our Rust bench of OSC is set beside.

Witness: python-osc 1.10.2 (PyPI `python-osc`). It decodes one bundle of 55 bones and 52 expressions, every argument of
every message, five runs over, and the best run counts. Needs no ghostlight. Prints one JSON object: packets_per_sec,
nanos_per_packet, nanos_per_value, messages, packet_bytes, loops, runs, python, library.
"""

import argparse
import json
import platform
import time

import hublib

RUNS, LOOPS = 5, 200


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    hublib.need_packages("pythonosc")
    from importlib.metadata import version

    from vmc_out_peer import body_bundle

    data = body_bundle(1)
    messages = hublib.messages_of(data)
    values = sum(isinstance(p, float) for m in messages for p in m.params)
    assert len(messages) == 111 and values == 1 + 56 * 7 + 52
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter_ns()
        for _ in range(LOOPS):
            for message in hublib.messages_of(data):
                message.params  # noqa: B018, some of it is decoded when asked for
        best = min(best, (time.perf_counter_ns() - start) / LOOPS)
    print(
        json.dumps(
            {
                "packets_per_sec": round(1e9 / best),
                "nanos_per_packet": round(best),
                "nanos_per_value": round(best / values, 1),
                "messages": len(messages),
                "packet_bytes": len(data),
                "loops": LOOPS,
                "runs": RUNS,
                "python": platform.python_version(),
                "library": f"python-osc {version('python-osc')}",
            }
        )
    )


if __name__ == "__main__":
    main()
