#!/usr/bin/env python3
"""Audio recorded or exported by ghostlight is read alike by three others.

Witnesses: ffprobe and ffmpeg, SoX, and a reader of our own here, written from EBU Tech 3285 (bext) and
3306 (RF64) with nothing of ghostlight in it.

Of every file: all three agree on rate, channels and number of frames, and on every sample; bext is
version 1 and says who, when and where; ffprobe reads the same time reference; iXML is well-formed, and
repeats it; the lengths in the header are those of the file. With --timecode the time reference must be
that of the label: frames x denominator / numerator seconds, not hours x 3600.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import peerlib
from peerlib import Fault, need

LONG = 0xFFFFFFFF


@dataclass
class Wav:
    """A file as read here. `samples` are the bytes as they stand."""

    tag: int
    channels: int
    rate: int
    bits: int
    samples: bytes
    bext: bytes
    ixml: bytes

    @property
    def frames(self) -> int:
        return len(self.samples) // (self.channels * self.bits // 8)


def read_wav(path: Path) -> Wav:
    data = path.read_bytes()
    magic, size, form = struct.unpack_from("<4sI4s", data)
    need(magic in (b"RIFF", b"RF64") and form == b"WAVE", f"{path}: expected RIFF or RF64 of WAVE, found {magic} {form}")
    long_data = None
    chunks: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, at)
        if name == b"ds64":
            size, long_data, frames = struct.unpack_from("<QQQ", data, at + 8)
        if name == b"data" and length == LONG and long_data is not None:
            length = long_data
        end = at + 8 + length
        need(end <= len(data), f"{path}: chunk {name} of {length} bytes at {at} goes beyond the file's {len(data)}")
        chunks.setdefault(name, data[at + 8 : end])
        at = end + length % 2
    need(size + 8 == len(data), f"{path}: expected the length {len(data) - 8} in the header, found {size}")
    need((magic == b"RF64") == (long_data is not None), f"{path}: ds64 and {magic} do not go together")
    for name in (b"fmt ", b"bext", b"iXML", b"data"):
        need(name in chunks, f"{path}: expected a chunk {name}, found {sorted(chunks)}")
    names = list(chunks)
    need(names[0] in (b"JUNK", b"ds64"), f"{path}: expected room for ds64 first, found {names}")
    need(names.index(b"bext") < names.index(b"data"), f"{path}: expected bext before data, found {names}")
    tag, channels, rate, _, block, bits = struct.unpack_from("<HHIIHH", chunks[b"fmt "])
    if tag == 0xFFFE:
        tag = struct.unpack_from("<H", chunks[b"fmt "], 24)[0]
    need(tag in (1, 3), f"{path}: expected PCM or float, found format {tag}")
    need(block == channels * bits // 8, f"{path}: {block} bytes a frame for {channels} channels of {bits} bits")
    samples = chunks[b"data"]
    need(len(samples) % block == 0, f"{path}: {len(samples)} bytes of samples are no whole frames of {block}")
    return Wav(tag, channels, rate, bits, samples, chunks[b"bext"], chunks[b"iXML"])


def text(field: bytes) -> str:
    return field.split(b"\0")[0].decode("ascii")


def check_bext(path: Path, wav: Wav) -> int:
    """Checks the chunk; returns its time reference."""
    bext = wav.bext
    need(len(bext) >= 602, f"{path}: expected 602 bytes of bext or more, found {len(bext)}")
    description, originator = text(bext[:256]), text(bext[256:288])
    date, time = text(bext[320:330]), text(bext[330:338])
    low, high, version = struct.unpack_from("<IIH", bext, 338)
    need(version == 1, f"{path}: expected bext version 1, found {version}")
    need(originator.lower().startswith("ghostlight"), f"{path}: expected the originator ghostlight, found {originator!r}")
    need(description != "", f"{path}: expected a description, found none")
    need(len(date) == 10 and date[4] == date[7] == "-", f"{path}: expected yyyy-mm-dd, found {date!r}")
    need(len(time) == 8 and time[2] == time[5] == ":", f"{path}: expected hh:mm:ss, found {time!r}")
    need(not any(bext[348:602]), f"{path}: expected zeros where version 1 has nothing")
    return low | high << 32


def check_ixml(path: Path, wav: Wav, reference: int) -> None:
    root = ElementTree.fromstring(wav.ixml.strip(b"\0 \n"))
    need(root.tag == "BWFXML", f"{path}: expected BWFXML, found {root.tag}")

    def number(name: str) -> int:
        found = root.findtext(f"SPEED/{name}")
        need(found is not None and found.isdigit(), f"{path}: expected a number in {name}, found {found!r}")
        return int(found)

    midnight = "TIMESTAMP_SAMPLES_SINCE_MIDNIGHT"
    found = number(f"{midnight}_HI") << 32 | number(f"{midnight}_LO")
    need(found == reference, f"{path}: expected {reference} in iXML as in bext, found {found}")
    need(number("FILE_SAMPLE_RATE") == wav.rate, f"{path}: iXML has another sample rate than {wav.rate}")
    need(number("AUDIO_BIT_DEPTH") == wav.bits, f"{path}: iXML has another depth than {wav.bits}")
    need(bool(root.findtext("SCENE")), f"{path}: expected a scene in iXML")


def run(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    need(done.returncode == 0, f"{command[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def check_ffmpeg(path: Path, wav: Wav, reference: int) -> None:
    told = json.loads(run("ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", str(path)))
    (stream,) = told["streams"]
    found = (int(stream["sample_rate"]), int(stream["channels"]), int(stream["duration_ts"]))
    need(found == (wav.rate, wav.channels, wav.frames), f"{path}: ffprobe finds rate, channels, frames {found}")
    tags = {k.lower(): v for k, v in told["format"].get("tags", {}).items()}
    need(tags.get("time_reference") == str(reference), f"{path}: ffprobe finds the time reference {tags.get('time_reference')}")
    codec = f"pcm_f{wav.bits}le" if wav.tag == 3 else f"pcm_s{wav.bits}le"
    raw = run("ffmpeg", "-v", "error", "-i", str(path), "-f", codec.removeprefix("pcm_"), "-c:a", codec, "-")
    need(raw == wav.samples, f"{path}: ffmpeg decodes other samples")


def check_sox(path: Path, wav: Wav) -> None:
    found = tuple(int(run("sox", "--info", option, str(path))) for option in ("-r", "-c", "-s"))
    need(found == (wav.rate, wav.channels, wav.frames), f"{path}: SoX finds rate, channels, frames {found}")
    kind = "floating-point" if wav.tag == 3 else "signed-integer"
    raw = run("sox", "-D", str(path), "-t", "raw", "-e", kind, "-b", str(wav.bits), "-L", "-")
    if wav.tag == 1:
        need(raw == wav.samples, f"{path}: SoX decodes other samples")
        return
    # It keeps 32-bit integers inside.
    ours = struct.iter_unpack("<f", wav.samples)
    theirs = struct.iter_unpack("<f", raw)
    worst = max((abs(a - b) for (a,), (b,) in zip(ours, theirs, strict=True)), default=0.0)
    need(worst <= 2.0**-23, f"{path}: SoX decodes samples that differ by {worst}")


def label_reference(label: str, rate: Fraction, samples: int) -> int:
    """Samples from midnight to a label, counted from SMPTE ST 12-1."""
    is_drop = ";" in label
    hours, minutes, seconds, frames = (int(part) for part in label.replace(";", ":").split(":"))
    nominal = -(-rate.numerator // rate.denominator)
    count = ((hours * 60 + minutes) * 60 + seconds) * nominal + frames
    if is_drop:
        whole = hours * 60 + minutes
        count -= nominal // 15 * (whole - whole // 10)
    return round(count / rate * samples)


def check(path: Path, args) -> None:
    wav = read_wav(path)
    reference = check_bext(path, wav)
    check_ixml(path, wav, reference)
    check_ffmpeg(path, wav, reference)
    check_sox(path, wav)
    if args.timecode:
        expected = label_reference(args.timecode, args.rate, wav.rate)
        need(reference == expected, f"{path}: expected the time reference {expected}, found {reference}")
    print(
        f"ok {path.name}: {wav.frames} frames, {wav.channels} channels of {wav.bits} bits at {wav.rate}, "
        f"{wav.frames / wav.rate:.3f} s from {reference}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="WAV")
    parser.add_argument("--timecode", help="the label that each file begins with, HH:MM:SS:FF or HH:MM:SS;FF")
    parser.add_argument("--rate", type=Fraction, default=Fraction(25), help="its rate, such as 25 or 30000/1001 (default: 25)")
    args = parser.parse_args()
    for tool in ("ffprobe", "ffmpeg", "sox"):
        if shutil.which(tool) is None:
            parser.error(f"{tool} is not installed (Debian: ffmpeg, sox)")

    def checks() -> None:
        for path in args.files:
            if not path.is_file():
                raise Fault(f"no such file: {path}")
            check(path, args)

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
