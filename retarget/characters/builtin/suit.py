"""The suit of a performer: bodysuit, panels, trims, shoes and markers, from the base mesh's tights helper."""

import numpy as np

from fields import curve, smoothstep, unit
from paint import jpeg, noise
from surface import Surface, merge

# One tile of the cloth's relief, in metres.
TILE = 0.016
CLOTH_SIZE = 256

# Markers: the joint near which one sits, an offset from it in metres (left side), the way outwards.
MARKERS = [
    ("Neck", (0, -0.075, 0.05), (0, 0, 1)),
    ("Neck", (0, -0.030, -0.05), (0, 0.1, -1)),
    ("Spine2", (0, -0.05, 0), (0, 0, 1)),
    ("Spine2", (0, 0.02, 0), (0, 0, -1)),
    ("LeftArm", (-0.01, 0, 0), (0.35, 1, 0)),
    ("LeftArm", (0.03, -0.02, 0.0), (0.2, 0, -1)),
    ("LeftForeArm", (0, 0, 0), (0.9, 0.4, -0.2)),
    ("LeftForeArm", (-0.07, 0.08, 0), (0.8, 0.5, 0.3)),
    ("LeftHand", (-0.055, 0.045, 0), (0.4, 0.2, 1)),
    ("LeftHand", (-0.055, 0.045, 0), (0.4, 0.3, -1)),
    ("LeftUpLeg", (0.0, 0.065, 0), (0.45, 0, 1)),
    ("LeftUpLeg", (-0.05, 0.075, 0), (0, 0, -1)),
    ("LeftUpLeg", (0, -0.22, 0), (1, 0, 0.35)),
    ("LeftLeg", (0, 0.0, 0), (1, 0, 0.1)),
    ("LeftLeg", (0, -0.19, 0), (1, 0, 0.3)),
    ("LeftFoot", (0, 0.035, 0), (1, 0, -0.1)),
    ("LeftFoot", (0, -0.02, 0), (0, 0, -1)),
    ("LeftToeBase", (0.01, 0.0, 0.0), (0.1, 1, 0)),
]
MARKER_RADIUS = 0.0075


def suit(source, lines, material):
    quads = source.base.quads["helper-tights"]
    uvs = source.base.uvs[source.base.quad_uvs["helper-tights"]]
    # The layout is near to scale: one factor makes it metres.
    side = np.linalg.norm(source.positions[quads] - np.roll(source.positions[quads], 1, axis=1), axis=2)
    uvs = uvs * np.median(side / np.linalg.norm(uvs - np.roll(uvs, 1, axis=1), axis=2)) / TILE
    surface, _ = source.surface(quads, material["Suit"], np.concatenate([uvs, 0 * uvs], axis=2))
    surface.offsets = surface.offsets * 0
    skin, _ = source.surface(source.base.quads["body"], 0)
    close = near_edges(surface, lines)
    round_off(surface, close, source.skeleton.at)
    close = near_edges(surface, lines)
    fit(surface, skin, close)
    take_weights(surface, skin, close)

    _, above = surface.cut(lines.above_collar(surface.positions), snap=0.02)
    surface.keep(~above)
    _, above = surface.cut(lines.along_arm(surface.positions), snap=0.02)
    surface.keep(~above)

    m = material
    at = source.skeleton.at
    panel = Panels(at)
    close = np.abs(panel(surface)) < 0.010
    surface.subdivide(close[surface.triangles].any(axis=1))
    surface.split_region(panel(surface), m["Suit"], m["SuitPanel"])
    # A narrow piping along the seams.
    surface.split_region(panel(surface) + 0.0026, m["Suit"], m["SuitTrim"], snap=0.03)
    drop_islands(surface, m["SuitTrim"], m["SuitPanel"], m["Suit"])
    for edge, width in ((lines.above_collar, 0.012), (lines.along_arm, 0.014)):
        for old in ("Suit", "SuitPanel"):
            surface.split_region(edge(surface.positions) + width, m[old], m["SuitTrim"], snap=0.02)
        # The edge is rolled in towards the skin.
        surface.cut(edge(surface.positions) + 0.0025, snap=0.02)
        surface.lift(-0.0027 * smoothstep(-0.0025, -0.0002, edge(surface.positions)))
    shoes(surface, m, at)
    return merge([surface, *markers(surface, m, at)])


def drop_islands(surface, region, beside, instead):
    """Pieces of the region that touch no triangle of `beside` become `instead`."""
    touched = np.zeros(len(surface.positions), dtype=bool)
    touched[surface.region_vertices(beside)] = True
    mine = surface.regions == region
    triangles = surface.triangles[mine]
    while True:
        reached = touched[triangles].any(axis=1)
        count = touched.sum()
        touched[triangles[reached]] = True
        if touched.sum() == count:
            break
    regions = surface.regions[mine]
    surface.regions[mine] = np.where(reached, regions, instead)


def markers(suit, m, at):
    """Small reflective balls on short stems, fixed to the cloth."""
    flip = np.array([-1.0, 1, 1])
    found, normals = [], suit.soft_normals(2)
    for joint, offset, way in MARKERS:
        start, way = at(joint) + np.array(offset), unit(np.array(way, dtype=float))
        d = suit.positions - start
        along = d @ way
        off = np.linalg.norm(d - along[:, None] * way, axis=1)
        nearest = np.argmin(np.where((along > 0) & (along < 0.25), off, np.inf))
        for sign in (1, -1) if joint.startswith("Left") else (1,):
            mirrored = suit.positions[nearest] * (flip if sign < 0 else 1)
            vertex = np.argmin(np.linalg.norm(suit.positions - mirrored, axis=1))
            found.append(marker(suit, vertex, normals[vertex], m))
    return found


def marker(suit, vertex, normal, m):
    """A ball above a flat dark base, made of rings around the normal."""
    side = unit(np.cross(normal, [0.3, 0.1, 0.9]))
    up = np.cross(normal, side)
    around = 9
    turn = np.arange(around) * 2 * np.pi / around
    r = MARKER_RADIUS
    base = [(1.05 * r, -0.001), (0.9 * r, 0.0013), (0.3 * r, 0.0014)]
    ball = [(r * np.sin(a), 0.0008 + r - r * np.cos(a)) for a in np.radians([40, 75, 105, 140, 179.5])]
    points, triangles, regions = [], [], []
    for rings, region in ((base, m["Shoes"]), (ball, m["Markers"])):
        for k, (radius, height) in enumerate(rings):
            for t in turn:
                points.append(normal * height + (side * np.cos(t) + up * np.sin(t)) * radius)
            if k:
                start = len(points) - 2 * around
                for i in range(around):
                    j = (i + 1) % around
                    a, b, c, d = start + i, start + j, start + around + j, start + around + i
                    triangles += [[a, b, c], [a, c, d]]
                    regions += [region] * 2
    points = suit.positions[vertex] + np.array(points)
    weights = np.tile(suit.weights[vertex], (len(points), 1))
    offsets = np.zeros((len(suit.offsets), len(points), 3))
    return Surface(points, offsets, weights, np.array(triangles), np.array(regions))


def cloth(size=CLOTH_SIZE):
    """The relief of a fine knit, repeating on all sides."""
    x, y = np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size)
    courses, wales = 12, 9
    phase = y * courses + 0.28 * np.abs(((x * wales) % 1) * 2 - 1)
    loops = 0.5 + 0.5 * np.cos(2 * np.pi * phase)
    column = np.abs(np.sin(np.pi * x * wales)) ** 0.7
    tangle = noise(
        np.stack([np.cos(2 * np.pi * x), np.sin(2 * np.pi * x), np.cos(2 * np.pi * y) * 2], axis=-1).reshape(-1, 3),
        0.05,
        3,
    )
    height = loops * 0.6 * column + 0.6 * column + 0.05 * tangle.reshape(x.shape)
    dx = np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)
    dy = np.roll(height, -1, axis=0) - np.roll(height, 1, axis=0)
    n = np.stack([-dx * 1.3, dy * 1.3, np.ones_like(dx)], axis=-1)
    return jpeg(n / np.linalg.norm(n, axis=-1, keepdims=True) * 0.5 + 0.5, 85, full_colour=True)


def near_edges(surface, lines):
    """1 at collar and cuffs, fading to 0 some centimetres away."""
    return np.maximum(
        smoothstep(-0.07, -0.03, lines.above_collar(surface.positions)),
        smoothstep(-0.09, -0.05, lines.along_arm(surface.positions)),
    )


def round_off(surface, close, at):
    """More triangles where the outline would show corners: edges, shoulders, feet."""
    x, y = np.abs(surface.positions[:, 0]), surface.positions[:, 1]
    arm = at("LeftArm")
    shoulder = np.hypot(x - arm[0], y - arm[1] - 0.02) < 0.075
    mask = (close > 0.5) | shoulder | (y < at("LeftFoot")[1] + 0.03)
    surface.subdivide(mask[surface.triangles].any(axis=1))


def nearest_vertices(points, targets, count):
    """Indices of the nearest targets of every point, nearest first."""
    found = []
    for block in np.array_split(points, 24):
        d = ((block[:, None] - targets[None]) ** 2).sum(axis=2)
        found.append(np.argsort(d, axis=1, kind="stable")[:, :count])
    return np.concatenate(found)


def take_weights(surface, skin, close):
    """The suit bends as the skin below it does: exactly so at collar and cuffs, a little softer elsewhere."""
    nearest = nearest_vertices(surface.positions, skin.positions, 4)
    gap = np.linalg.norm(surface.positions[:, None] - skin.positions[nearest], axis=2)
    share = 1 / (gap + 1e-3) ** 2
    share /= share.sum(axis=1, keepdims=True)
    weights = (skin.weights[nearest] * share[..., None]).sum(axis=1)
    for _ in range(6):
        weights = weights + 0.5 * (1 - close[:, None]) * (surface.neighbour_mean(weights) - weights)
    surface.weights = weights / weights.sum(axis=1, keepdims=True)


def fit(surface, skin, close):
    """A constant small distance to the skin near collar and cuffs."""
    skin_normals = skin.normals()
    for _ in range(4):
        step = surface.neighbour_mean(surface.positions) - surface.positions
        surface.positions = surface.positions + 0.3 * close[:, None] * step
        nearest = nearest_vertices(surface.positions, skin.positions, 3)
        n = skin_normals[nearest]
        gap = ((surface.positions[:, None] - skin.positions[nearest]) * n).sum(axis=2).mean(axis=1)
        n = n.mean(axis=1)
        surface.positions = surface.positions + (close * (0.0035 - gap))[:, None] * n


class Panels:
    """Raglan sleeves and side stripes as one field, positive inside, in metres."""

    def __init__(self, at):
        self.knee, self.ankle, self.hip = at("LeftLeg"), at("LeftFoot"), at("LeftUpLeg")
        self.waist, self.neck, self.arm = at("Spine1"), at("Neck"), at("LeftArm")

    def __call__(self, surface):
        x, y, z = np.abs(surface.positions[:, 0]), surface.positions[:, 1], surface.positions[:, 2]
        sleeve = (x - 0.056) * 0.86 + (y - self.neck[1]) * 0.51
        # The stripe runs from under the arm along the outer side of waist and leg.
        joints = (self.ankle, self.knee, self.hip, self.waist, self.arm)
        middle = curve([(p[1], p[2]) for p in joints], y)
        axis = curve([(p[1], p[0]) for p in joints[:3]] + [(self.waist[1], 0.04), (self.arm[1], 0.06)], y)
        stripe = np.minimum(0.022 - np.abs(z - middle), x - axis)
        stripe = np.where(y > self.arm[1] - 0.04, -1, stripe)
        return np.maximum(sleeve, stripe)


def shoes(surface, material, at):
    """Low shoes with a flat sole: the foot a little thicker, its underside level."""
    ankle = at("LeftFoot")

    def top(p):
        return ankle[1] + 0.012 - p[:, 1] - 0.22 * (p[:, 2] - ankle[2])

    for old in ("Suit", "SuitPanel", "SuitTrim"):
        surface.split_region(top(surface.positions), material[old], material["Shoes"])
    surface.cut(top(surface.positions) - 0.006)
    surface.smooth(8, 0.5, top(surface.positions) > 0.012)
    surface.lift(0.006 * smoothstep(0.0, 0.006, top(surface.positions)))
    ground = surface.positions[:, 1].min()
    surface.split_region(ground + 0.015 - surface.positions[:, 1], material["Shoes"], material["Soles"])
    # The lower part of the sole is pressed flat, the rest keeps its round side.
    rise = surface.positions[:, 1] - ground
    foot = rise < 0.015
    surface.positions[foot, 1] = ground + 0.015 * smoothstep(0.45, 1.0, rise[foot] / 0.015)
