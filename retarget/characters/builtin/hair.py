"""Hair drawn back into a knot: a cap, loose strands over it, and the knot. All of it hangs on the head alone."""

import numpy as np

from fields import smoothstep, unit
from paint import jpeg, linear, noise, png, srgb
from surface import Surface

SIZE = 512
# Where the knot sits: elevation in degrees around the head's centre, straight back.
KNOT = -4.0
COLUMNS, ROWS = 120, 16
DARK, LIGHT = linear((30, 21, 17)), linear((84, 59, 43))
# The picture's upper half is the cap's, the lower one that of loose strands.
CAP_REPEATS = 5


class Scalp:
    """The head's outside as a distance over directions from its centre."""

    def __init__(self, surface, centre):
        v = surface.positions - centre
        self.centre, self.length = centre, np.linalg.norm(v, axis=1)
        self.ways = v / self.length[:, None]

    def distance(self, ways):
        """Smooth in the direction; the ears, which stand out, count little."""
        out = np.empty(len(ways))
        for block in np.array_split(np.arange(len(ways)), 32):
            closeness = ways[block] @ self.ways.T
            weight = np.exp((closeness - closeness.max(axis=1, keepdims=True)) * 260)
            out[block] = (weight * self.length).sum(axis=1) / weight.sum(axis=1)
        return out


def ways_of(azimuth, elevation):
    a, e = np.radians(azimuth), np.radians(elevation)
    return np.stack([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)], axis=-1)


def towards(start, end, share):
    """Points of the great circle between unit vectors."""
    angle = np.arccos(np.clip((start * end).sum(axis=-1), -1, 1))[..., None]
    share = np.asarray(share)[..., None]
    return (np.sin((1 - share) * angle) * start + np.sin(share * angle) * end) / np.sin(angle)


class Hair:
    def __init__(self, lines, head, skeleton, shape_count):
        self.lines, self.shape_count = lines, shape_count
        self.joint, self.joint_count = skeleton.names.index("Head"), len(skeleton.names)
        self.scalp = Scalp(head, lines.head_centre)
        self.knot_way = ways_of(np.array(180.0), np.array(KNOT))

    def place(self, turn, share, lift):
        """Points over the scalp: `turn` around the hairline in degrees, `share` of the way to the knot."""
        azimuth = np.abs((turn + 180) % 360 - 180)
        root = ways_of(turn, self.lines.hairline(azimuth) + 0.3 * np.sin(np.radians(turn * 23)))
        way = towards(root, np.broadcast_to(self.knot_way, root.shape), share)
        way /= np.linalg.norm(way, axis=-1, keepdims=True)
        reach = self.scalp.distance(way.reshape(-1, 3)).reshape(way.shape[:-1])
        return self.lines.head_centre + way * (reach + lift)[..., None]

    def surface(self, points, triangles, uv, region):
        uvs = np.concatenate([uv, np.zeros_like(uv)], axis=2)
        weights = np.zeros((len(points), self.joint_count))
        weights[:, self.joint] = 1
        offsets = np.zeros((self.shape_count, len(points), 3))
        return Surface(points, offsets, weights, np.array(triangles), np.full(len(triangles), region), uvs)

    def grid(self, points, u, v, region, closed):
        """A surface from rows and columns of points; u and v have one more column when it is closed."""
        columns, rows = points.shape[:2]
        triangles, uv = [], []
        for i in range(columns if closed else columns - 1):
            j = (i + 1) % columns
            for k in range(rows - 1):
                at = [(i, i, k), (j, i + 1, k), (j, i + 1, k + 1), (i, i, k + 1)]
                for three in ((0, 1, 2), (0, 2, 3)):
                    triangles.append([at[n][0] * rows + at[n][2] for n in three])
                    uv.append([(u[at[n][1], at[n][2]], v[at[n][1], at[n][2]]) for n in three])
        return self.surface(points.reshape(-1, 3), triangles, np.array(uv), region)

    def cap(self, region):
        turn = np.arange(COLUMNS) * 360 / COLUMNS
        share = 0.010 + np.linspace(0, 1, ROWS) ** 1.3 * 0.96
        turn, share = np.meshgrid(turn, share, indexing="ij")
        ring = np.stack([np.cos(np.radians(turn)), np.sin(np.radians(turn)), 0.25 * share], axis=-1).reshape(-1, 3)
        locks = (noise(ring, 0.12, 3) + 0.6 * noise(ring, 0.06, 4)).reshape(turn.shape)
        thick = 0.0004 + 0.0052 * smoothstep(0.01, 0.12, share) + 0.003 * smoothstep(0.1, 0.5, share)
        points = self.place(turn, share, thick + 0.0008 * locks * smoothstep(0, 0.15, share))
        ends = np.arange(COLUMNS + 1)[:, None] / COLUMNS
        u = np.broadcast_to(ends * CAP_REPEATS * 2, (COLUMNS + 1, ROWS))
        v = np.broadcast_to(0.02 + 0.44 * share[:1], u.shape)
        return self.grid(points, u, v, region, closed=True)

    def strands(self, region, count=210):
        """Loose strands, most of them at the hairline, each a strip of four pieces."""
        rng = np.random.default_rng(5)
        parts = []
        for k in range(count):
            middle = 360 * (k + rng.uniform(-0.4, 0.4)) / count
            if 78 < abs((middle + 180) % 360 - 180) < 118:
                continue  # behind the ear the hairline is steep and strands would cross
            width = rng.uniform(3.5, 6.5)
            start, end = rng.uniform(-0.022, 0.03), rng.uniform(0.22, 0.5)
            lift = rng.uniform(0.0006, 0.0014)
            share = np.linspace(start, end, 5)
            sway = rng.uniform(-2.5, 2.5) * np.sin(np.linspace(0, 2.2, 5))
            turn = middle + sway + width * np.array([[-0.5], [0.5]])
            share = np.broadcast_to(share, turn.shape)
            thick = 0.0004 + 0.0052 * smoothstep(0.01, 0.12, share) + 0.003 * smoothstep(0.1, 0.5, share)
            points = self.place(turn, share, thick + lift * np.sin(np.linspace(0.3, 3.0, 5)))
            u0 = rng.uniform(0, 1)
            u = u0 + np.array([[0.0], [width / 50]]) * np.ones(5)
            v = np.broadcast_to(np.linspace(0.52, 0.98, 5), u.shape)
            parts.append(self.grid(points, u, v, region, closed=False))
        return parts

    def knot(self, region):
        """A coil: a flattened ball with one groove that winds from the rim to the middle."""
        way = unit(self.knot_way + np.array([0, -0.12, 0]))
        reach = self.scalp.distance(way[None])[0]
        middle = self.lines.head_centre + way * (reach + 0.014)
        side = np.array([1.0, 0, 0])
        up = np.cross(side, way)
        around, rows = 48, 22
        turn = np.arange(around) * 2 * np.pi / around
        fall = np.linspace(0.02, 0.72, rows) * np.pi
        t, f = np.meshgrid(turn, fall, indexing="ij")
        coil = f / np.pi * 3.0 + t / (2 * np.pi)
        groove = np.abs(np.sin(np.pi * coil)) ** 0.5
        radius = 0.86 + 0.14 * groove
        ball = (
            side * (np.sin(f) * np.cos(t))[..., None] * 0.036
            + up * (np.sin(f) * np.sin(t))[..., None] * 0.032
            + way * np.cos(f)[..., None] * 0.027
        )
        points = middle + ball * radius[..., None]
        # Hairs run along the coil.
        wind = np.arange(around + 1)[:, None] / around
        u = (f[:1] / np.pi * 3.0 + wind) * 0.9 + 0 * wind
        v = 0.02 + 0.44 * np.abs(2 * ((wind + 0.0 * f[:1]) % 1) - 1)
        return self.grid(points, u, v, region, closed=True)

    def build(self, region):
        return [self.cap(region), self.knot(region), *self.strands(region)]


def pictures(size=SIZE):
    """Colour with cover, and relief; both repeat to the side."""
    x, y = (a.ravel() for a in np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size))
    # A circle through the noise makes it repeat.
    turn = 2 * np.pi * x
    wave = 0.06 * np.sin(2 * np.pi * y * 1.5 + 3 * np.sin(turn))
    c, s = np.cos(turn + wave), np.sin(turn + wave)

    def strand(grain, length, seed):
        return noise(np.stack([c / (2 * np.pi), s / (2 * np.pi), y * grain / length], axis=1), grain, seed)

    locks, mids = strand(0.045, 1.2, 1), strand(0.016, 0.9, 2)
    fine, hairs = strand(0.006, 0.7, 3), strand(0.0028, 0.6, 4)
    height = 0.5 * locks + 0.5 * mids + 0.6 * fine + 0.5 * hairs
    tone = np.clip(0.30 + 0.12 * locks + 0.14 * mids + 0.18 * fine + 0.16 * hairs, 0, 1)
    colour = DARK + (LIGHT - DARK) * tone[:, None]
    loose = y >= 0.5
    along = np.clip((y - 0.5) * 2, 0, 1)
    cover = fine * 0.8 + hairs * 0.9 + 0.5 * mids
    ends = smoothstep(0, 0.16, along) * smoothstep(0, 0.3, 1 - along)
    cover = smoothstep(0.0, 0.45, cover - 0.55 + 0.75 * ends)
    alpha = np.where(loose, cover, 1)
    rgba = np.c_[srgb(colour), alpha].reshape(size, size, 4)

    h = height.reshape(size, size)
    dx = np.roll(h, -1, axis=1) - np.roll(h, 1, axis=1)
    dy = np.roll(h, -1, axis=0) - np.roll(h, 1, axis=0)
    n = np.stack([-dx * 0.4, dy * 0.2, np.ones_like(h)], axis=-1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return png(rgba, 96), jpeg(n * 0.5 + 0.5, 78, full_colour=True)
