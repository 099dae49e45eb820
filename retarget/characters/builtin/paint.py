"""A picture over the texture coordinates of surfaces: what lies under every texel, noise, and files.

Everything is painted as a function of the place in space, so seams in the layout do not show.
"""

import io

import numpy as np
from PIL import Image


class Canvas:
    """Texels covered by surfaces: `rows`, `columns`, and mixes of vertex values at them."""

    def __init__(self, size):
        self.size = size
        self._surface = np.full((size, size), -1, dtype=np.int16)
        self._triangle = np.zeros((size, size), dtype=np.int32)
        self._mix = np.zeros((size, size, 3), dtype=np.float32)
        self._surfaces = []

    def cover(self, surface, triangles):
        """Notes for every texel inside the marked triangles of the surface which triangle it is and where in it."""
        self._surfaces.append(surface)
        number = len(self._surfaces) - 1
        corners = surface.uvs[triangles, :, :2] * self.size - 0.5
        for index, uv in zip(np.flatnonzero(triangles), corners):
            low = np.maximum(np.ceil(uv.min(axis=0) - 0.02).astype(int), 0)
            high = np.minimum(np.floor(uv.max(axis=0) + 0.02).astype(int), self.size - 1)
            if (low > high).any():
                continue
            x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
            (ax, ay), (bx, by), (cx, cy) = uv
            area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if abs(area) < 1e-9:
                continue
            v = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
            w = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
            mix = np.stack([1 - v - w, v, w], axis=-1)
            inside = mix.min(axis=-1) > -1e-3
            y, x = y[inside], x[inside]
            self._surface[y, x], self._triangle[y, x], self._mix[y, x] = number, index, mix[inside]

    def seal(self):
        self.mask = self._surface >= 0
        self.rows, self.columns = np.nonzero(self.mask)
        self.number = self._surface[self.mask]
        self.triangle, self.mix = self._triangle[self.mask], self._mix[self.mask]

    def vertex_values(self, *values):
        """The values (n, width) of every surface's vertices, mixed at every covered texel."""
        out = np.zeros((len(self.rows), values[0].shape[1]), dtype=np.float32)
        for number, (surface, value) in enumerate(zip(self._surfaces, values)):
            here = self.number == number
            corners = value[surface.triangles[self.triangle[here]]]
            out[here] = (corners * self.mix[here][..., None]).sum(axis=1)
        return out

    def layout(self):
        """The data's own texture coordinates at every covered texel."""
        out = np.zeros((len(self.rows), 2), dtype=np.float32)
        for number, surface in enumerate(self._surfaces):
            here = self.number == number
            out[here] = (surface.uvs[self.triangle[here], :, 2:] * self.mix[here][..., None]).sum(axis=1)
        return out

    def image(self, values):
        """The values as a picture; what no surface covers takes the colour of its neighbourhood."""
        values = values.reshape(len(self.rows), -1)
        picture = np.zeros((self.size, self.size, values.shape[1]), dtype=np.float32)
        picture[self.mask] = values
        return fill(picture, self.mask.astype(np.float32)[..., None])

    def slopes(self, height, positions):
        """Tangent-space normals of a height in metres over the covered texels."""
        full = np.zeros((self.size, self.size, 4), dtype=np.float32)
        full[self.mask] = np.c_[height, positions]
        result = []
        for axis in (1, 0):
            ahead, behind = np.roll(full, -1, axis), np.roll(full, 1, axis)
            known = np.roll(self.mask, -1, axis) & np.roll(self.mask, 1, axis) & self.mask
            step = np.linalg.norm(ahead[..., 1:] - behind[..., 1:], axis=-1)
            # Across a border between islands the step is large; there the skin is left smooth.
            known &= (step > 1e-7) & (step < 0.006)
            result.append(np.where(known, (ahead - behind)[..., 0] / np.where(known, step, 1), 0)[self.mask])
        # +X along u; +Y up in the picture, against v.
        normal = np.stack([-result[0], result[1], np.ones_like(result[0])], axis=-1)
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def fill(picture, weight):
    """Fills texels without weight from ever coarser pictures."""
    if weight.min() > 0 or picture.shape[0] == 1:
        return picture / np.maximum(weight, 1e-6)
    half = picture.shape[0] // 2
    coarse = (picture * weight).reshape(half, 2, half, 2, -1).sum(axis=(1, 3))
    total = weight.reshape(half, 2, half, 2, 1).sum(axis=(1, 3))
    coarse = fill(np.where(total > 0, coarse / np.maximum(total, 1e-6), 0), (total > 0).astype(np.float32))
    return np.where(weight > 0, picture, coarse.repeat(2, axis=0).repeat(2, axis=1))


def hashed(i, j, k, seed):
    """A number in 0..1 for whole coordinates."""
    h = i.astype(np.uint32) * np.uint32(0x8DA6B343) ^ j.astype(np.uint32) * np.uint32(0xD8163841)
    h = h ^ k.astype(np.uint32) * np.uint32(0xCB1AB31F) ^ np.uint32(seed * 0x9E3779B1 & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    h = (h ^ (h >> np.uint32(12))) * np.uint32(0x297A2D39)
    return ((h ^ (h >> np.uint32(15))) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24)


def noise(points, size, seed):
    """Smooth noise in -1..1 whose grains are `size` wide; size may differ per axis."""
    p = np.asarray(points / size, dtype=np.float32)
    cell = np.floor(p).astype(np.int32)
    t = p - cell
    t = t * t * t * (t * (t * 6 - 15) + 10)
    total = 0
    for corner in range(8):
        bits = [(corner >> axis) & 1 for axis in range(3)]
        weight = 1
        for axis, bit in enumerate(bits):
            weight = weight * (t[:, axis] if bit else 1 - t[:, axis])
        total = total + weight * hashed(*(cell[:, axis] + bit for axis, bit in enumerate(bits)), seed)
    return total * 2 - 1


def clouds(points, size, octaves, seed):
    """Noise over several sizes, each half the one before and half as strong; about -1..1."""
    total, scale = 0, 0
    for octave in range(octaves):
        total = total + 0.5**octave * noise(points, size * 0.5**octave, seed + octave)
        scale += 0.5**octave
    return total / scale * 1.6


def cells(points, size, seed):
    """Distances to the nearest and second nearest of scattered seeds, in units of `size`."""
    p = np.asarray(points / size, dtype=np.float32)
    cell = np.floor(p).astype(np.int32)
    first = np.full(len(p), 9, dtype=np.float32)
    second = first.copy()
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            for k in (-1, 0, 1):
                c = cell + np.array([i, j, k], dtype=np.int32)
                d = 0
                for axis in range(3):
                    at = c[:, axis] + 0.15 + 0.7 * hashed(c[:, 0], c[:, 1], c[:, 2], seed + 17 * axis)
                    d = d + (at.astype(np.float32) - p[:, axis]) ** 2
                second = np.minimum(second, np.maximum(first, d))
                first = np.minimum(first, d)
    return np.sqrt(first), np.sqrt(second)


def srgb(linear):
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)


def linear(srgb_bytes):
    c = np.asarray(srgb_bytes) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def to_bytes(values):
    return np.clip(np.round(values * 255), 0, 255).astype(np.uint8)


def jpeg(values, quality, full_colour=False):
    """Encodes values 0..1 (height, width, 3)."""
    out = io.BytesIO()
    options = {"subsampling": 0} if full_colour else {}
    Image.fromarray(to_bytes(values)).save(out, "JPEG", quality=quality, optimize=True, **options)
    return out.getvalue()


def png(values, colours=None):
    """Encodes values 0..1 (height, width, 3 or 4), with a palette if a number of colours is given."""
    picture = Image.fromarray(to_bytes(values))
    if colours is not None:
        picture = picture.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()
