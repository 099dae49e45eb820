"""The mannequin's suit: bodysuit, panels, trims and shoes, from the base mesh's tights helper."""

import numpy as np

from fields import curve, smoothstep


def suit(source, lines, material):
    surface, _ = source.surface(source.base.quads["helper-tights"], material["Suit"])
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
    surface.split_region(panel(surface), m["Suit"], m["SuitPanel"])
    for edge, width in ((lines.above_collar, 0.012), (lines.along_arm, 0.014)):
        for old in ("Suit", "SuitPanel"):
            surface.split_region(edge(surface.positions) + width, m[old], m["SuitTrim"], snap=0.02)
        # The edge is rolled in towards the skin.
        surface.cut(edge(surface.positions) + 0.0025, snap=0.02)
        surface.lift(-0.0027 * smoothstep(-0.0025, -0.0002, edge(surface.positions)))
    shoes(surface, m, at)
    return surface


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
