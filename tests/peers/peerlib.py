"""What the Python peers share: the wire unpack, the app CSV, and running ghostlight.

The unpack here is written from the public description of the packet and uses nothing of
ghostlight or of pylivelinkface: it is the third opinion when those two disagree.
"""

from __future__ import annotations

import csv
import json
import math
import os
import queue
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PEERS = Path(os.environ.get("GHOSTLIGHT_PEERS") or REPO / "target" / "peers")

WEIGHTS = (
    "EyeBlinkLeft EyeLookDownLeft EyeLookInLeft EyeLookOutLeft EyeLookUpLeft EyeSquintLeft "
    "EyeWideLeft EyeBlinkRight EyeLookDownRight EyeLookInRight EyeLookOutRight EyeLookUpRight "
    "EyeSquintRight EyeWideRight JawForward JawLeft JawRight JawOpen MouthClose MouthFunnel "
    "MouthPucker MouthLeft MouthRight MouthSmileLeft MouthSmileRight MouthFrownLeft "
    "MouthFrownRight MouthDimpleLeft MouthDimpleRight MouthStretchLeft MouthStretchRight "
    "MouthRollLower MouthRollUpper MouthShrugLower MouthShrugUpper MouthPressLeft "
    "MouthPressRight MouthLowerDownLeft MouthLowerDownRight MouthUpperUpLeft MouthUpperUpRight "
    "BrowDownLeft BrowDownRight BrowInnerUp BrowOuterUpLeft BrowOuterUpRight CheekPuff "
    "CheekSquintLeft CheekSquintRight NoseSneerLeft NoseSneerRight TongueOut"
).split()
ROTATIONS = (
    "HeadYaw HeadPitch HeadRoll LeftEyeYaw LeftEyePitch LeftEyeRoll "
    "RightEyeYaw RightEyePitch RightEyeRoll"
).split()
CURVES = WEIGHTS + ROTATIONS  # in wire order
# The CSV swaps two pairs against the wire.
CSV_CURVES = list(CURVES)
for a, b in (("JawLeft", "JawRight"), ("MouthLeft", "MouthRight")):
    i, j = CSV_CURVES.index(a), CSV_CURVES.index(b)
    CSV_CURVES[i], CSV_CURVES[j] = CSV_CURVES[j], CSV_CURVES[i]
assert len(CURVES) == 61

VALUE_TOLERANCE = 1e-6
THOUSANDTHS_TOLERANCE = 0.002  # of a frame


class Fault(Exception):
    """A check that failed; the text says what was expected and what was found."""


def need(condition: bool, text: str) -> None:
    if not condition:
        raise Fault(text)


# ---------------------------------------------------------------- packets


@dataclass
class Packet:
    """One datagram as read here. `curves` is None in a no-face packet."""

    version: int
    device: str
    name: str
    frame: int
    sub_frame: float
    numerator: int
    denominator: int
    curves: tuple[float, ...] | None

    @property
    def at(self) -> float:
        """Time in frames at the packet's rate."""
        return self.frame + self.sub_frame

    @property
    def rate(self) -> float:
        return self.numerator / max(self.denominator, 1)


def unpack(data: bytes) -> Packet:
    """Reads one Live Link Face packet, version 6, and wants every byte accounted for."""
    need(len(data) >= 9, f"packet: expected at least 9 bytes, found {len(data)}")
    version, device_len = struct.unpack_from(">Bi", data, 0)
    need(version == 6, f"packet version: expected 6, found {version}")
    need(0 < device_len <= 64, f"device id length: expected 1..64, found {device_len}")
    at = 5 + device_len
    device = data[5:at].decode("utf-8")
    (name_len,) = struct.unpack_from(">i", data, at)
    need(0 <= name_len <= 256, f"name length: expected 0..256, found {name_len}")
    name = data[at + 4 : at + 4 + name_len].decode("utf-8")
    at += 4 + name_len
    frame, sub_frame, numerator, denominator = struct.unpack_from(">ifii", data, at)
    at += 16
    if len(data) == at:
        return Packet(version, device, name, frame, sub_frame, numerator, denominator, None)
    need(
        len(data) == at + 1 + 61 * 4,
        f"packet size: expected {at} (no face) or {at + 245} (face), found {len(data)}",
    )
    need(data[at] == 61, f"curve count: expected 61, found {data[at]}")
    curves = struct.unpack_from(">61f", data, at + 1)
    return Packet(version, device, name, frame, sub_frame, numerator, denominator, curves)


# ---------------------------------------------------------------- CSV


@dataclass
class Row:
    """One CSV row: when, in frames from midnight, and the 61 values in wire order."""

    timecode: str
    frame: int
    sub_frame: float
    curves: tuple[float, ...]

    @property
    def at(self) -> float:
        return self.frame + self.sub_frame


def parse_timecode(text: str, rate: int) -> tuple[int, float]:
    try:
        hours, minutes, seconds, tail = text.strip().split(":")
        whole, _, thousandths = tail.partition(".")
        sub = float(f"0.{thousandths}") if thousandths else 0.0
        return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * rate + int(whole), sub
    except ValueError:
        raise Fault(f"timecode: expected HH:MM:SS:FF.sss, found {text!r}") from None


def csv_rate(timecodes: list[str]) -> int:
    """The app does not write the rate: 60 if any FF passes 29, as importers guess, else 30."""
    return 60 if any(int(t.split(":")[3].split(".")[0]) > 29 for t in timecodes) else 30


def read_csv(path: Path, rate: int | None = None, strict: bool = False) -> tuple[list[Row], int]:
    """Rows bound by header name, and the rate. `strict` wants our exporter's exact layout."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    need(len(lines) >= 2, f"CSV: expected a header and at least one row, found {len(lines)} lines: {path}")
    header = [h.strip().lower() for h in lines[0]]
    need(header[0] == "timecode", f"CSV first column: expected Timecode, found {lines[0][0]!r}: {path}")
    need(header[1] == "blendshapecount", f"CSV second column: expected BlendshapeCount, found {lines[0][1]!r}: {path}")
    missing = [c for c in CURVES if c.lower() not in header]
    need(not missing, f"CSV columns: missing {', '.join(missing)}: {path}")
    if strict:
        expected = ["Timecode", "BlendshapeCount", *CSV_CURVES]
        need(len(lines[0]) == 63, f"CSV header: expected 63 columns, found {len(lines[0])}: {path}")
        for i, (e, f) in enumerate(zip(expected, lines[0])):
            same = e.lower() == f.lower() if i == 1 else e == f
            need(same, f"CSV column {i}: expected {e}, found {f}: {path}")
    column = [header.index(c.lower()) for c in CURVES]
    rate = rate or csv_rate([line[0] for line in lines[1:]])
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        need(len(line) == len(header), f"CSV line {number}: expected {len(header)} fields, found {len(line)}: {path}")
        need(line[1] == "61", f"CSV line {number}: expected count 61, found {line[1]!r}: {path}")
        curves = tuple(float(line[c]) for c in column)
        bad = next((c for c, v in zip(CURVES, curves) if not math.isfinite(v)), None)
        need(bad is None, f"CSV line {number}: {bad} is not finite: {path}")
        rows.append(Row(line[0], *parse_timecode(line[0], rate), curves))
    return rows, rate


def compare_rows(expected: list[Row], found: list[Row], what: str) -> dict:
    """Every expected row must be there once, in order, at its timecode, with its values.

    Rows beside those are accepted only inside a hole of the original (a step of more than 1.5
    usual steps), where an exporter may fill in lost frames.
    """
    steps = sorted(b.at - a.at for a, b in zip(expected, expected[1:]))
    usual = steps[len(steps) // 2] if steps else 1.0
    by_frame = {}
    for i, row in enumerate(found):
        need(row.frame not in by_frame, f"{what}: frame {row.frame} ({row.timecode}) is there twice")
        by_frame[row.frame] = i
    for a, b in zip(found, found[1:]):
        need(b.at > a.at, f"{what}: timecode must rise, found {a.timecode} then {b.timecode}")
    worst, worst_at, worst_time, matched, last = 0.0, "-", 0.0, set(), -1
    for n, row in enumerate(expected):
        i = by_frame.get(row.frame)
        if i is None and row.sub_frame > 0.998:  # its thousandths may have been rounded up to the next frame
            i = by_frame.get(row.frame + 1)
        if i is None:
            near = min(found, key=lambda r: abs(r.at - row.at))
            raise Fault(
                f"{what}: row {n}: expected timecode {row.timecode} (frame {row.frame}), not found; "
                f"nearest is {near.timecode}; expected {len(expected)} rows, found {len(found)}"
            )
        need(i > last, f"{what}: row {n} ({row.timecode}) is out of order")
        last = i
        matched.add(i)
        other = found[i]
        late = abs(other.at - row.at)
        need(
            late <= THOUSANDTHS_TOLERANCE + 1e-9,
            f"{what}: row {n}: expected timecode {row.timecode} (sub-frame {row.sub_frame:.4f}), found "
            f"{other.timecode}; off by {late:.4f} of a frame, tolerance {THOUSANDTHS_TOLERANCE}",
        )
        worst_time = max(worst_time, late)
        for curve, e, f in zip(CURVES, row.curves, other.curves):
            if abs(e - f) > worst:
                worst, worst_at = abs(e - f), f"{curve} at row {n}"
            need(
                abs(e - f) <= VALUE_TOLERANCE,
                f"{what}: row {n} ({row.timecode}) {curve}: expected {e:.10f}, found {f:.10f}, tolerance {VALUE_TOLERANCE}",
            )
    holes = [(a.at, b.at) for a, b in zip(expected, expected[1:]) if b.at - a.at > 1.5 * usual]
    extra = [r for i, r in enumerate(found) if i not in matched]
    for row in extra:
        need(
            any(a < row.at < b for a, b in holes),
            f"{what}: row {row.timecode} was never sent; expected {len(expected)} rows, found {len(found)}",
        )
    span_e, span_f = expected[-1].at - expected[0].at, found[-1].at - found[0].at
    need(
        abs(span_e - span_f) <= usual,
        f"{what}: duration: expected {span_e:.3f} frames, found {span_f:.3f}",
    )
    return {
        "rows": len(expected),
        "filled": len(extra),
        "max_error": worst,
        "max_error_at": worst_at,
        "max_timecode_error_frames": round(worst_time, 6),
    }


# ---------------------------------------------------------------- ghostlight


def binary() -> str:
    path = os.environ.get("GHOSTLIGHT_BIN")
    if not path:
        sys.exit("GHOSTLIGHT_BIN is not set: give the path of the ghostlight binary")
    if not os.access(path, os.X_OK):
        sys.exit(f"GHOSTLIGHT_BIN is not an executable file: {path}")
    return str(Path(path).resolve())


class Process:
    """A running ghostlight whose standard output is read as one JSON object a line."""

    def __init__(self, *args: str):
        self.args = [str(a) for a in args]
        self.events: list[dict] = []
        self._queue: queue.Queue[dict | None] = queue.Queue()
        self._not_json: str | None = None
        self._errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [binary(), *self.args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        _running.append(self.process)
        threading.Thread(target=self._read, name="stdout", daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            if not line.strip():
                continue
            try:
                event = json.loads(line)
                if not isinstance(event, dict):
                    raise ValueError
                self._queue.put(event)
            except ValueError:
                self._not_json = self._not_json or line.rstrip()
        self._queue.put(None)

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-2000:].strip() or "(nothing)"

    def _describe(self) -> str:
        other = f"\n  not JSON on standard output: {self._not_json!r}" if self._not_json else ""
        return f"\n  command: ghostlight {' '.join(self.args)}{other}\n  standard error: {self.errors()}"

    def wait_for(self, event: str, timeout: float) -> dict:
        end = time.monotonic() + timeout
        while True:
            try:
                got = self._queue.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Fault(f"expected event {event!r} within {timeout} s, found {self.events}{self._describe()}") from None
            if got is None:
                self._queue.put(None)
                raise Fault(f"expected event {event!r}, found the end of output after {self.events}{self._describe()}")
            self.events.append(got)
            if got.get("event") == event:
                return got

    def finish(self, timeout: float, accept: tuple[int, ...] = (0,)) -> int:
        """Waits for the end, gathers what is left of the output, checks the exit code."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Fault(f"expected an end within {timeout} s, still running{self._describe()}") from None
        while (got := self._queue.get(timeout=5)) is not None:
            self.events.append(got)
        self._queue.put(None)
        need(code in accept, f"exit code: expected {' or '.join(map(str, accept))}, found {code}{self._describe()}")
        need(self._not_json is None, f"standard output under --json: expected JSON objects, found other text{self._describe()}")
        return code

    def only(self, event: str) -> list[dict]:
        return [e for e in self.events if e.get("event") == event]


_running: list[subprocess.Popen] = []


def run(*args: str, timeout: float = 60, accept: tuple[int, ...] = (0,)) -> Process:
    process = Process(*args)
    process.finish(timeout, accept)
    return process


class Recorder:
    """`ghostlight record` on a loopback port of its own choice."""

    def __init__(self, out: Path, slate: str, seconds: float, take: int = 1):
        self.process = Process(
            "record", "--source", "livelinkface=127.0.0.1:0", "--slate", slate, "--take", str(take),
            "--seconds", f"{seconds:g}", "--out", str(out), "--json",
        )  # fmt: skip
        self.seconds = seconds
        event = self.process.wait_for("listening", 20)
        need(event.get("source") == "livelinkface", f"listening event: expected source livelinkface, found {event}")
        host, _, port = str(event.get("addr", "")).rpartition(":")
        need(host == "127.0.0.1" and port.isdigit(), f"listening event: expected addr 127.0.0.1:PORT, found {event}")
        self.addr = (host, int(port))

    def stop(self, by: int | None = signal.SIGINT, accept: tuple[int, ...] = (0,)) -> tuple[dict, int]:
        """Ends the take by a signal, or (None) by waiting for --seconds. Returns event and exit code."""
        if by is not None:
            time.sleep(0.3)  # let the last datagrams be read
            self.process.process.send_signal(by)
        code = self.process.finish(20 if by is not None else self.seconds + 20, accept)
        takes = self.process.only("take")
        need(len(takes) == 1, f"record: expected one take event, found {takes or self.process.events}")
        take = takes[0]
        for key in ("frames", "lost"):
            need(isinstance(take.get(key), int), f"take event: expected an integer {key!r}, found {take}")
        need(os.path.exists(str(take.get("path"))), f"take event: expected an existing path, found {take}")
        return take, code


def export(take: str, fmt: str, out: Path, *more: str) -> list[Path]:
    done = run("export", take, "--format", fmt, "--out", str(out), *more, "--json", accept=(0, 3))
    events = [e for e in done.only("export") if e.get("format") == fmt]
    need(events != [], f"export: expected an export event of format {fmt}, found {done.events}")
    for e in events:
        need(os.path.isfile(str(e.get("path"))), f"export event: expected an existing file, found {e}")
    return [Path(e["path"]) for e in events]


def export_one_csv(take: str, out: Path) -> Path:
    files = export(take, "csv", out)
    need(len(files) == 1, f"export: expected one CSV for one subject, found {[str(f) for f in files]}")
    return files[0]


def leave(take: str, csv_file: Path, out: Path, scratch: Path) -> None:
    """Copies the exported CSV and a GLB of the take to `out` as take.csv and take.glb."""
    files = export(take, "glb", scratch)
    need(len(files) == 1, f"export: expected one GLB for one subject, found {[str(f) for f in files]}")
    out.mkdir(parents=True, exist_ok=True)
    for source, name in ((csv_file, "take.csv"), (files[0], "take.glb")):
        shutil.copy(source, out / name)
        print(f"wrote {out / name}")


def verify_take(take: str, frames: int) -> None:
    """`take verify` must be content, and `take info` must agree about the count if it tells one."""
    run("take", "verify", take, "--json")
    info = run("take", "info", take, "--json")
    need(info.events != [], "take info: expected a JSON object, found nothing")
    told = next((e["frames"] for e in info.events if isinstance(e.get("frames"), int)), frames)
    need(told == frames, f"take info: expected {frames} frames as record said, found {told}")


def send_paced(addr: tuple[str, int], packets: list[tuple[float, bytes]]) -> None:
    """Sends each packet when its time (seconds from the first) has come, never in a burst."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        start = time.monotonic() - packets[0][0]
        for due, data in packets:
            wait = start + due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            sock.sendto(data, addr)


# ---------------------------------------------------------------- scripts


def need_peer_python() -> None:
    """Starts again under the environment setup.sh made, unless the peer is importable already."""
    try:
        import pylivelinkface  # noqa: F401
    except ImportError:
        python = PEERS / "venv" / "bin" / "python"
        if os.environ.get("GHOSTLIGHT_PEER_PYTHON") or not python.exists():
            sys.exit(f"pylivelinkface is not installed: run {Path(__file__).parent.relative_to(REPO)}/setup.sh")
        os.environ["GHOSTLIGHT_PEER_PYTHON"] = "1"
        os.execv(python, [str(python), *sys.argv])


class Scratch:
    """A temporary folder, removed at the end also on signals; every child is ended too."""

    def __init__(self, limit_secs: int, keep: bool = False):
        self.keep = keep
        self.limit = limit_secs

    def __enter__(self) -> Path:
        def ended(number, _frame):
            if number == signal.SIGALRM:
                raise Fault(f"expected an end within {self.limit} s: given up")
            sys.exit(128 + number)

        for number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, ended)
        signal.alarm(self.limit)
        self.path = Path(tempfile.mkdtemp(prefix="ghostlight-peers-"))
        return self.path

    def __exit__(self, *_):
        signal.alarm(0)
        for process in _running:
            if process.poll() is None:
                process.kill()
                process.wait()
        if self.keep:
            print(f"kept: {self.path}", file=sys.stderr)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def main(checks) -> None:
    """Runs checks, turning a Fault into a message and exit code 1."""
    try:
        checks()
    except Fault as fault:
        sys.exit(f"FAILED: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)
