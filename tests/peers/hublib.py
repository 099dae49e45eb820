"""What the peers of outputs share: a hub made of a stage file, and a page that reads its JSON stream.

Nothing here is of ghostlight: packets are packed with `struct`, OSC is python-osc's, WebSockets are those of the
package `websockets`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

import peerlib
from peerlib import CURVES, need

TRUNK = "Hips Spine Chest UpperChest Neck Head LeftEye RightEye Jaw".split()
LIMBS = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes".split()
FINGERS = [f + j for f in "Thumb Index Middle Ring Little".split() for j in "Proximal Intermediate Distal".split()]
BONES = TRUNK + [side + part for side in ("Left", "Right") for part in LIMBS + FINGERS]
assert len(BONES) == len(set(BONES)) == 55


def need_packages(*names: str) -> None:
    """Starts again under the environment setup.sh made, unless all are importable already."""
    missing = [n for n in names if importlib.util.find_spec(n) is None]
    if not missing:
        return
    python = peerlib.PEERS / "venv" / "bin" / "python"
    if os.environ.get("GHOSTLIGHT_PEER_PYTHON") or not python.exists():
        sys.exit(f"not installed: {', '.join(missing)}; run {Path(__file__).parent.relative_to(peerlib.REPO)}/setup.sh")
    os.environ["GHOSTLIGHT_PEER_PYTHON"] = "1"
    os.execv(python, [str(python), *sys.argv])


class Hub:
    """`ghostlight serve` on a stage file, with sources on ports that the system picks."""

    def __init__(self, scratch: Path, stage: str):
        path = scratch / "stage.toml"
        path.write_text(f'[hub]\nrecord_folder = "takes"\n{stage}', encoding="utf-8")
        self.process = peerlib.Process("serve", "--stage", str(path), "--json")
        self.sources: dict[str, tuple[str, int]] = {}
        for _ in range(stage.count("[[source]]")):
            event = self.process.wait_for("listening", 20)
            host, _, port = str(event.get("addr", "")).rpartition(":")
            need(host == "127.0.0.1" and port.isdigit(), f"listening event: expected addr 127.0.0.1:PORT, found {event}")
            self.sources[event["source"]] = (host, int(port))

    def page_address(self) -> str:
        """Where the WebSocket output listens."""
        event = self.process.wait_for("output", 20)
        while event.get("kind") != "websocket":
            event = self.process.wait_for("output", 20)
        need(isinstance(event.get("listening"), str), f"output event: expected an address, found {event}")
        return f"ws://{event['listening']}/"

    def stop(self) -> None:
        self.process.process.send_signal(signal.SIGINT)
        self.process.finish(20)
        stopped = self.process.only("stopped")
        need(len(stopped) == 1, f"serve: expected one stopped event, found {self.process.events}")
        need(stopped[0].get("rejected_datagrams") == 0, f"serve: expected no rejected datagrams, found {stopped[0]}")


class Page:
    """A page that keeps every message, and the static message that each frame belongs to."""

    def __init__(self, address: str):
        from websockets.sync.client import connect

        self.socket = connect(address, max_size=None, compression=None)
        self.messages: list[dict] = []
        self.statics: dict[str, dict] = {}

    def read(self, seconds: float) -> list[tuple[dict, dict]]:
        """Frames that come within the time, each with its static message."""
        frames = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                message = json.loads(self.socket.recv(timeout=left))
            except TimeoutError:
                break
            self.messages.append(message)
            if message["type"] == "static":
                self.statics[message["subject"]] = message
            elif message["type"] == "frame":
                of = self.statics.get(message["subject"])
                need(of is not None, f"a frame came before its static message: {str(message)[:200]}")
                need(of["generation"] == message["generation"], f"a frame of another generation: {str(message)[:200]}")
                frames.append((of, message))
        return frames

    def close(self) -> None:
        self.socket.close()


class Receiver:
    """A UDP socket that keeps datagrams, as a program that receives would."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]

    def read(self, seconds: float) -> list[bytes]:
        datagrams = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                datagrams.append(self.socket.recv(65536))
            except TimeoutError:
                break
        return datagrams


def face_packet(name: str, frame: int, curves: list[float]) -> bytes:
    """A Live Link Face packet, version 6, at 60/s."""
    assert len(curves) == 61
    device, subject = b"00000000-0000-4000-8000-000000000001", name.encode()
    return (
        struct.pack(">Bi", 6, len(device)) + device
        + struct.pack(">i", len(subject)) + subject
        + struct.pack(">ifiiB61f", frame, 0.0, 60, 1, 61, *curves)
    )  # fmt: skip


def face_curves(number: int) -> list[float]:
    """61 curves that differ from frame to frame; JawOpen is the frame's number in thousandths."""
    curves = [0.5 + 0.5 * math.sin(number * 0.3 + i) for i in range(52)] + [0.0] * 9
    curves[CURVES.index("HeadYaw")] = 0.3
    curves[CURVES.index("JawOpen")] = number / 1000
    return curves


def unity_pose(number: int, bone: int) -> tuple[list[float], list[float]]:
    """Position and unit rotation of a bone in Unity's axes."""
    angles = [math.sin(number * 0.2 + bone + axis) for axis in range(3)]
    angle = math.sqrt(sum(a * a for a in angles)) or 1.0
    scale = math.sin(angle / 2) / angle
    rotation = [a * scale for a in angles] + [math.cos(angle / 2)]
    return [0.01 * bone, 0.1 + 0.001 * number, -0.3], rotation


def messages_of(datagram: bytes) -> list:
    """Every message of a datagram, as python-osc reads it."""
    from pythonosc.osc_bundle import OscBundle
    from pythonosc.osc_message import OscMessage

    def walk(content):
        if isinstance(content, OscBundle):
            for part in content:
                yield from walk(part)
        else:
            yield content

    if OscBundle.dgram_is_bundle(datagram):
        return list(walk(OscBundle(datagram)))
    return [OscMessage(datagram)]


def near(what: str, expected: float, found: float, tolerance: float) -> None:
    need(abs(expected - found) <= tolerance, f"{what}: expected {expected}, found {found}, tolerance {tolerance}")


def same_rotation(what: str, expected: list[float], found: list[float], tolerance: float) -> None:
    """A rotation and its negative are one."""
    sign = 1.0 if sum(a * b for a, b in zip(expected, found)) >= 0 else -1.0
    for e, f in zip(expected, found):
        near(what, e, sign * f, tolerance)
