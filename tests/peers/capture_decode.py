#!/usr/bin/env python3
"""Packets of a real phone must be read as they are: capture -> record -> export.

Witness: the Live Link Face app on an iPhone, by way of recorded datagrams, and a plain struct unpack
of the same bytes (peerlib.py). PyLiveLinkFace, if installed, must agree with the unpack too.

FOLDER is a sample folder; what is there of these two is played, each packet at the time its own
timecode tells:
  protocols/livelinkface/udp_v6_excerpt.bin   split by its .index.txt: 32 face, 7 no-face packets, one hole
  captures/llf_iphone_first300.pcap           300 packets, 8 frame numbers skipped
The values stated in the folder's README for the first packet are checked by hand-copied numbers.
"""

from __future__ import annotations

import argparse
import struct
import sys
from pathlib import Path

import peerlib
from peerlib import Packet, need, unpack

# samples' README, "Expected values": packet_face_319, the first packet of the excerpt.
STATED_FRAME, STATED_SUB_FRAME = 1095835, 0.345303
STATED = {"EyeBlinkLeft": 0.24443, "JawOpen": 0.10871, "HeadPitch": 0.22125}


def split_by_index(data: bytes, index: str) -> list[bytes]:
    packets = []
    for line in index.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        offset, length, frame, sub_frame, num, den, has_face, _ = line.split()
        packet = data[int(offset) : int(offset) + int(length)]
        read = unpack(packet)
        need(read.frame == int(frame), f"index: expected frame {frame}, unpacked {read.frame}")
        need(abs(read.sub_frame - float(sub_frame)) < 1e-6, f"index: expected sub-frame {sub_frame}, unpacked {read.sub_frame}")
        need((read.numerator, read.denominator) == (int(num), int(den)), "index: rate differs from the unpacked one")
        need((read.curves is not None) == (has_face == "1"), f"index: expected has_face {has_face} at frame {frame}")
        packets.append(packet)
    return packets


def split_pcap(data: bytes, port: int = 11111) -> list[bytes]:
    """UDP payloads to `port` of a classic little-endian pcap with raw IPv4 packets."""
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data, 0)
    need(magic == 0xA1B2C3D4 and link == 101, f"pcap: expected magic a1b2c3d4 and link type 101, found {magic:x} and {link}")
    packets, at = [], 24
    while at < len(data):
        _, _, length, _ = struct.unpack_from("<IIII", data, at)
        ip = data[at + 16 : at + 16 + length]
        at += 16 + length
        header = (ip[0] & 15) * 4
        if ip[0] >> 4 == 4 and ip[9] == 17 and struct.unpack_from(">H", ip, header + 2)[0] == port:
            size = struct.unpack_from(">H", ip, header + 4)[0]
            packets.append(ip[header + 8 : header + size])
    return packets


def check_peer_agrees(packets: list[bytes]) -> str:
    try:
        from pylivelinkface import PyLiveLinkFace
    except ImportError:
        return "PyLiveLinkFace not installed, not asked"
    for data in packets:
        packet = unpack(data)
        has_face, face = PyLiveLinkFace.decode(data)
        need(has_face == (packet.curves is not None), f"frame {packet.frame}: PyLiveLinkFace and unpack differ about the face")
        if has_face:
            need(tuple(face._blend_shapes) == packet.curves, f"frame {packet.frame}: PyLiveLinkFace and unpack differ")
    return "PyLiveLinkFace agrees"


def play(name: str, packets: list[bytes], scratch: Path) -> tuple[list[Packet], list[peerlib.Row]]:
    read = [unpack(data) for data in packets]
    faces = [p for p in read if p.curves is not None]
    peer = check_peer_agrees(packets)
    rate = read[0].rate
    times = [(p.at - read[0].at) / rate for p in read]
    need(times == sorted(times) and times[-1] < 60, f"{name}: expected rising times below 60 s, found {times[-1]:.1f} s")

    recorder = peerlib.Recorder(scratch / name, "Capture", seconds=times[-1] + 30)
    peerlib.send_paced(recorder.addr, list(zip(times, packets)))
    take, code = recorder.stop(accept=(0, 3))  # the capture itself has lost frames
    need(
        take["frames"] in (len(packets), len(faces)),
        f"{name}: take event: expected frames {len(packets)} (of which with a face: {len(faces)}), found {take}",
    )
    peerlib.verify_take(take["path"], take["frames"])

    csv = peerlib.export_one_csv(take["path"], scratch / f"{name}-csv")
    rows, csv_rate = peerlib.read_csv(csv, rate=int(rate), strict=True)
    expected = [peerlib.Row(f"frame {p.frame}", p.frame, p.sub_frame, p.curves) for p in faces]
    # Rows where no face was seen are the exporter's own affair (left out or held): only rows with a face count.
    silent = {p.frame for p in read if p.curves is None}
    held = sum(r.frame in silent for r in rows)
    result = peerlib.compare_rows(expected, [r for r in rows if r.frame not in silent], f"{name}: CSV against the wire")
    print(
        f"ok {name}: {len(packets)} packets ({len(packets) - len(faces)} without a face), take: frames {take['frames']}, "
        f"lost {take['lost']}, exit code {code}; {len(rows)} rows: {result['rows']} as on the wire (greatest difference "
        f"{result['max_error']:.1e}), {result['filled']} filled in, {held} held without a face; {peer}"
    )
    return read, rows


def check_stated(name: str, read: list[Packet], rows: list[peerlib.Row]) -> None:
    first, row = read[0], next(r for r in rows if r.frame == STATED_FRAME)
    for what, frame, sub_frame, curves in (
        ("unpack", first.frame, first.sub_frame, first.curves),
        ("CSV", row.frame, row.sub_frame, row.curves),
    ):
        need(frame == STATED_FRAME, f"{name} {what}: expected frame {STATED_FRAME}, found {frame}")
        need(abs(sub_frame - STATED_SUB_FRAME) < 0.002, f"{name} {what}: expected sub-frame {STATED_SUB_FRAME}, found {sub_frame}")
        for curve, expected in STATED.items():
            found = curves[peerlib.CURVES.index(curve)]
            need(abs(found - expected) < 6e-6, f"{name} {what} {curve}: expected {expected} as stated, found {found:.6f}")
    need(row.timecode.startswith("05:04:23:55"), f"{name}: expected timecode 05:04:23:55, found {row.timecode}")
    print(f"ok {name}: the first packet is {row.timecode} with the stated {', '.join(STATED)}")


def run(folder: Path, scratch: Path) -> None:
    excerpt = folder / "protocols/livelinkface/udp_v6_excerpt.bin"
    index = folder / "protocols/livelinkface/udp_v6_excerpt.index.txt"
    pcap = folder / "captures/llf_iphone_first300.pcap"
    if excerpt.is_file() and index.is_file():
        packets = split_by_index(excerpt.read_bytes(), index.read_text())
        need(packets != [], f"{excerpt.name}: expected packets, found none")
        check_stated(excerpt.stem, *play(excerpt.stem, packets, scratch))
    else:
        print(f"skipped {excerpt.name}: not in the folder")
    if pcap.is_file():
        packets = split_pcap(pcap.read_bytes())
        need(packets != [], f"{pcap.name}: expected UDP packets to port 11111, found none")
        check_stated(pcap.stem, *play(pcap.stem, packets, scratch))
    else:
        print(f"skipped {pcap.name}: not in the folder")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder and name it")
    args = parser.parse_args()
    if not args.folder.is_dir():
        parser.error(f"no such folder: {args.folder}")
    peerlib.binary()
    if (peerlib.PEERS / "venv/bin/python").exists():
        peerlib.need_peer_python()

    def checks() -> None:
        with peerlib.Scratch(limit_secs=240, keep=args.keep) as scratch:
            run(args.folder, scratch)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
