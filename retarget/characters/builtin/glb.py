"""Writes one binary glTF 2.0 file: a skeleton, a skin, pictures and meshes with sparse morph targets."""

import json
import struct

import numpy as np

FLOAT, U8, U16, U32 = 5126, 5121, 5123, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TYPES = {FLOAT: np.float32, U8: np.uint8, U16: np.uint16, U32: np.uint32}


class Glb:
    def __init__(self, asset):
        self.json = {"asset": {"version": "2.0", **asset}}
        self.binary = bytearray()
        self.sparse_indices, self.sparse_values = bytearray(), bytearray()
        # The two views that all sparse accessors share; filled in at the end.
        self.shared = [self.add("bufferViews", {"buffer": 0}) for _ in range(2)]

    def add(self, collection, value):
        self.json.setdefault(collection, []).append(value)
        return len(self.json[collection]) - 1

    def view(self, array, target=None):
        self.binary += b"\0" * (-len(self.binary) % 4)
        data = array.tobytes()
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)}
        if target is not None:
            view["target"] = target
        self.binary += data
        return self.add("bufferViews", view)

    def texture(self, name, data, repeat):
        """A picture (PNG or JPEG bytes) inside the file. Returns its texture's index."""
        mime = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"
        view = self.view(np.frombuffer(data, dtype=np.uint8))
        image = self.add("images", {"name": name, "mimeType": mime, "bufferView": view})
        wrap = 10497 if repeat else 33071
        sampler = {"magFilter": 9729, "minFilter": 9987, "wrapS": wrap, "wrapT": wrap}
        samplers = self.json.setdefault("samplers", [])
        if sampler not in samplers:
            samplers.append(sampler)
        return self.add("textures", {"source": image, "sampler": samplers.index(sampler)})

    def accessor(self, array, component, target=None, bounds=False, normalized=False):
        array = np.ascontiguousarray(array, dtype=TYPES[component])
        width = 1 if array.ndim == 1 else array.shape[1]
        accessor = {
            "bufferView": self.view(array, target),
            "componentType": component,
            "count": len(array),
            "type": KINDS[width],
        }
        if normalized:
            accessor["normalized"] = True
        if bounds:
            accessor.update(bounds_of(array))
        return self.add("accessors", accessor)

    def sparse(self, values, threshold):
        """A VEC3 accessor that stores the rows longer than the threshold, all others being zero."""
        rows = np.flatnonzero(np.linalg.norm(values, axis=1) > threshold)
        if len(rows) == 0:
            rows = np.array([0])
            values = np.zeros_like(values)
        dense = np.zeros(values.shape, dtype=np.float32)
        dense[rows] = values[rows]
        index_component = U16 if len(values) <= 65535 else U32
        return self.add(
            "accessors",
            {
                "componentType": FLOAT,
                "count": len(values),
                "type": "VEC3",
                **bounds_of(dense),
                "sparse": {
                    "count": len(rows),
                    "indices": {
                        "bufferView": self.shared[0],
                        "byteOffset": append(self.sparse_indices, rows.astype(TYPES[index_component])),
                        "componentType": index_component,
                    },
                    "values": {"bufferView": self.shared[1], "byteOffset": append(self.sparse_values, dense[rows])},
                },
            },
        )

    def bytes(self):
        for index, data in zip(self.shared, (self.sparse_indices, self.sparse_values)):
            self.binary += b"\0" * (-len(self.binary) % 4)
            self.json["bufferViews"][index].update(byteOffset=len(self.binary), byteLength=len(data))
            self.binary += data
        self.binary += b"\0" * (-len(self.binary) % 4)
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json, separators=(",", ":"), ensure_ascii=True).encode()
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + len(self.binary)
        return b"".join(
            [
                struct.pack("<4sII", b"glTF", 2, total),
                struct.pack("<I4s", len(text), b"JSON"),
                text,
                struct.pack("<I4s", len(self.binary), b"BIN\0"),
                bytes(self.binary),
            ]
        )


def bounds_of(array):
    low, high = array.min(axis=0), array.max(axis=0)
    return {"min": [short(x) for x in np.atleast_1d(low)], "max": [short(x) for x in np.atleast_1d(high)]}


def short(x):
    """A number whose shortest decimal form still names the same 32-bit float."""
    return float(str(x))


def append(data, array):
    """Appends the array, aligned to 4 bytes. Returns where it starts."""
    data += b"\0" * (-len(data) % 4)
    start = len(data)
    data += array.tobytes()
    return start
