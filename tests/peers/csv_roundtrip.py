#!/usr/bin/env python3
"""A take of the Live Link Face app must come back as it was: CSV -> send -> record -> export.

Witness: the app itself, by way of the CSV it wrote; compared by this script's own CSV reader.

`ghostlight send livelinkface --csv` plays the file over UDP loopback into `ghostlight record`,
and `ghostlight export --format csv` writes it again. Every row must be there once, in order: the
frame number exactly, thousandths within 0.002 of a frame, all 61 values within 1e-6, columns bound
by name (the app spells BlendShapeCount in two ways), and the whole as long as before. Rows
beside those are let pass only inside a hole of the original, where an exporter may fill in.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

import peerlib
from peerlib import Fault, need


def trim(source: Path, target: Path, first: int, rows: int) -> None:
    with open(source, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as out:
        for number, line in enumerate(file):
            if number == 0 or first < number <= first + rows:
                out.write(line)


def round_trip(args, scratch: Path) -> None:
    played = scratch / args.csv.name
    trim(args.csv, played, args.start, args.rows)
    # The rate is that of the whole file: a short excerpt may not show a frame above 29.
    _, rate = peerlib.read_csv(args.csv)
    expected, short_rate = peerlib.read_csv(played, rate=rate)
    need(rate == short_rate, f"these {len(expected)} rows do not show the rate {rate}: give more --rows")
    steps = [b.at - a.at for a, b in zip(expected, expected[1:])]
    holes = sum(step > 1.5 * sorted(steps)[len(steps) // 2] for step in steps)
    seconds = (expected[-1].at - expected[0].at) / rate
    if seconds > args.limit:
        raise Fault(f"{len(expected)} rows play for {seconds:.0f} s, more than --limit {args.limit:g}: give fewer --rows")

    recorder = peerlib.Recorder(scratch / "take", "RoundTrip", seconds=seconds + 40)
    sender = peerlib.run(
        "send", "livelinkface", "--csv", str(played), "--to", "%s:%d" % recorder.addr,
        "--subject", "RoundTrip", "--json", timeout=seconds + 30,
    )  # fmt: skip
    take, _ = recorder.stop(signal.SIGTERM, accept=(0, 3) if holes else (0,))
    sent = sender.only("sent")
    need(len(sent) == 1, f"send: expected one sent event, found {sender.events}")
    need(sent[0].get("frames") == len(expected), f"sent event: expected frames {len(expected)}, found {sent[0]}")
    need(take["frames"] == len(expected), f"take event: expected frames {len(expected)}, found {take}")
    if not holes:
        need(take["lost"] == 0, f"take event: expected lost 0, found {take}")
    peerlib.verify_take(take["path"], len(expected))

    exported = peerlib.export_one_csv(take["path"], scratch / "export")
    found, found_rate = peerlib.read_csv(exported, strict=True)
    need(found_rate == rate, f"exported rate by its timecodes: expected {rate}, found {found_rate}")
    result = peerlib.compare_rows(expected, found, "CSV out against CSV in")
    if args.out:
        peerlib.leave(take["path"], exported, args.out, scratch / "export")
    print(
        f"ok {args.csv.name}: {result['rows']} rows, {seconds:.2f} s at {rate}/s (step {sorted(steps)[len(steps) // 2]:.3f}), "
        f"{holes} holes, {result['filled']} rows filled in; greatest difference {result['max_error']:.1e} "
        f"({result['max_error_at']}), timecode {result['max_timecode_error_frames']:.4f} of a frame"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", type=Path, metavar="CSV")
    parser.add_argument("--rows", type=int, default=240, help="play only N rows (default: 240)")
    parser.add_argument("--from", type=int, default=0, dest="start", metavar="ROW", help="the first row to play (default: 0)")
    parser.add_argument("--limit", type=float, default=90, help="refuse to play longer than this many seconds (default: 90)")
    parser.add_argument("--out", type=Path, help="leave take.csv and take.glb here, for the gltf scripts")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    if not args.csv.is_file():
        parser.error(f"no such file: {args.csv}")
    if args.rows < 2 or args.start < 0:
        parser.error("--rows must be 2 or more, --from 0 or more")
    peerlib.binary()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=int(args.limit) + 120, keep=args.keep) as scratch:
            round_trip(args, scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
