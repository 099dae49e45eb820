"""Shapes the base mesh, dresses it and gathers the parts of the character."""

from dataclasses import dataclass

import numpy as np

import makehuman
from fields import curve, smoothstep, unit
from parts import eye, lashes, lip_field, teeth
from suit import suit
from surface import Surface, merge

# The body: a mix of the adult macro targets.
GENDER = 0.45  # 0 female, 1 male
HERITAGE = {"african": 1 / 3, "asian": 1 / 3, "caucasian": 1 / 3}

EYE = ["Blink", "LookDown", "LookIn", "LookOut", "LookUp", "Squint", "Wide"]
SHAPES = (
    [f"eye{name}{side}" for side in ("Left", "Right") for name in EYE]
    + ["jawForward", "jawLeft", "jawRight", "jawOpen", "mouthClose", "mouthFunnel", "mouthPucker"]
    + ["mouthLeft", "mouthRight", "mouthSmileLeft", "mouthSmileRight", "mouthFrownLeft", "mouthFrownRight"]
    + ["mouthDimpleLeft", "mouthDimpleRight", "mouthStretchLeft", "mouthStretchRight"]
    + ["mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper"]
    + ["mouthPressLeft", "mouthPressRight", "mouthLowerDownLeft", "mouthLowerDownRight"]
    + ["mouthUpperUpLeft", "mouthUpperUpRight", "browDownLeft", "browDownRight", "browInnerUp"]
    + ["browOuterUpLeft", "browOuterUpRight", "cheekPuff", "cheekSquintLeft", "cheekSquintRight"]
    + ["noseSneerLeft", "noseSneerRight", "tongueOut"]
)

# How far the eyeballs turn at 1.0, in degrees. The lids of the data follow these.
LOOK = {"Up": 18, "Down": 20, "In": 26, "Out": 26}

# The share of jawOpen that is taken back at rest so that the lips touch.
LIPS_CLOSE = 0.03
CORNERS_CLOSE = 0.085  # more of it near the corners of the mouth
# How far the middle of the tongue drops below the jaw's own movement at jawOpen 1.0, in metres.
TONGUE_DROP = 0.018
# The share of its width that the tongue keeps, to lie within the lower teeth.
TONGUE_WIDTH = 0.72

# Islands of the body's texture layout, in the order of their first vertex.
HEAD, MOUTH, TORSO, EYE_R, HAND_R, FOOT_R, EYE_L, HAND_L, FOOT_L = range(9)


@dataclass
class Skeleton:
    names: list
    parents: list
    positions: np.ndarray

    def at(self, name):
        return self.positions[self.names.index(name)]


@dataclass
class Model:
    skeleton: Skeleton
    shapes: list
    face: Surface
    body: Surface
    eye_centres: dict
    eye_vertices: dict


class Source:
    """The shaped base mesh in metres, with face offsets, weights and joints made symmetric."""

    def __init__(self, data, height):
        self.base = makehuman.BaseMesh(data / "mpfb2" / "3dobjs" / "base.obj")
        mirror = makehuman.read_mirror(data)
        macro = data / "mpfb2" / "targets" / "macrodetails"
        points = self.base.positions.copy()
        for sex, share in (("female", 1 - GENDER), ("male", GENDER)):
            points += share * makehuman.read_target(
                macro / f"universal-{sex}-young-averagemuscle-averageweight.target.gz"
            )
            for heritage, part in HERITAGE.items():
                points += share * part * makehuman.read_target(macro / f"{heritage}-{sex}-young.target.gz")
        flip = np.array([-1.0, 1.0, 1.0])
        points = (points + points[mirror] * flip) / 2

        rig = makehuman.Rig(data)
        heads = rig.heads(self.base, points)
        weights = rig.weights()
        opposite = [rig.names.index(swap_side(name)) for name in rig.names]
        weights = (weights + weights[mirror][:, opposite]) / 2
        heads = {n: (heads[n] + heads[swap_side(n)] * flip) / 2 for n in rig.names}

        skin = points[np.unique(self.base.quads["body"])]
        scale = height / np.ptp(skin[:, 1])
        ground = skin[:, 1].min()
        self.to_metres = lambda p: (p - [0, ground, 0]) * scale
        self.positions = self.to_metres(points)
        folder = data / "faceunits01" / "targets" / "faceunits"
        offsets = np.stack([makehuman.read_target(folder / f"{name}.target") for name in SHAPES]) * scale
        partner = [SHAPES.index(swap_suffix(name)) for name in SHAPES]
        self.offsets = (offsets + offsets[partner][:, mirror] * flip) / 2
        self.balls = {}
        for side, group in (("Left", "helper-l-eye"), ("Right", "helper-r-eye")):
            rig.add(f"{side}Eye", "Head")
            ball = self.positions[np.unique(self.base.quads[group])]
            centre = (ball.min(axis=0) + ball.max(axis=0)) / 2
            self.balls[side] = (centre, ball)
            heads[f"{side}Eye"] = centre / scale + [0, ground, 0]
        self.weights = np.pad(weights, ((0, 0), (0, 2)))
        joints = np.stack([self.to_metres(heads[n]) for n in rig.names])
        order = rig.depth_first()
        self.weights = self.weights[:, order]
        place = {old: new for new, old in enumerate(order)}
        parents = [place.get(rig.parents[i], -1) for i in order]
        self.skeleton = Skeleton([rig.names[i] for i in order], parents, joints[order])
        self.islands = self.base.uv_islands("body")
        self.close_mouth()

    def close_mouth(self):
        """The macro targets leave the lips a little open and the tongue too wide; this puts it right."""
        body = np.unique(self.base.quads["body"])
        jaw_open = self.offsets[SHAPES.index("jawOpen")]
        rim = self.positions[np.intersect1d(self.body_quads([HEAD]), self.body_quads([MOUTH]))]
        gap = np.linalg.norm(self.positions[body][:, None] - rim[None], axis=2).min(axis=1)
        corner = smoothstep(0.010, 0.019, np.abs(self.positions[body, 0])) * np.exp(-((gap / 0.008) ** 2))
        self.positions[body] -= (LIPS_CLOSE + CORNERS_CLOSE * corner)[:, None] * jaw_open[body]
        # The data keeps the tongue at the palate when the jaw drops; let it lie down.
        tongue = np.unique(self.base.quads["helper-tongue"])
        self.positions[tongue] = self.positions[tongue] * [TONGUE_WIDTH, 1, 1] - [0, 0, 0.0015]
        z = self.positions[tongue, 2]
        u = (z - z.min()) / np.ptp(z)
        jaw_open[tongue, 1] -= TONGUE_DROP * (1 - 0.8 * smoothstep(0.35, 0.9, u))

    def surface(self, quads, regions):
        regions = np.broadcast_to(np.asarray(regions, dtype=int), len(quads))
        return Surface.from_quads(self.positions, self.offsets, self.weights, quads, regions)

    def body_quads(self, islands):
        return self.base.quads["body"][np.isin(self.islands, islands)]


def swap_suffix(name):
    if name.endswith("Left"):
        return name.removesuffix("Left") + "Right"
    if name.endswith("Right"):
        return name.removesuffix("Right") + "Left"
    return name


def swap_side(name):
    if name.startswith("Left"):
        return "Right" + name[4:]
    if name.startswith("Right"):
        return "Left" + name[5:]
    return name


class Dresser:
    """Where collar, cuffs, panels, brows and hairline lie."""

    def __init__(self, source, material):
        self.source, self.material = source, material
        at = source.skeleton.at
        self.neck = at("Neck")
        self.collar_normal = unit(unit(at("Head") - at("Neck")) + [0, 0.6, 0])
        self.collar_point = self.neck + self.collar_normal * 0.016
        self.eye = source.balls["Left"][0]
        self.head_centre = np.array([0, self.eye[1] + 0.025, self.eye[2] - 0.085])

    def above_collar(self, p):
        return (p - self.collar_point) @ self.collar_normal

    def along_arm(self, p):
        """Distance past the cuff, positive on the hand's side; p may be of either side."""
        at = self.source.skeleton.at
        q = np.abs(p[:, :1]) * [1, 0, 0] + p * [0, 1, 1]
        hand, elbow = at("LeftHand"), at("LeftForeArm")
        axis = unit(hand - elbow)
        near = np.where(np.linalg.norm(q - hand, axis=1) < 0.3, 0, 1)
        return (q - hand) @ axis + 0.012 - near * 10

    def brow(self, p):
        """Positive inside a brow. Lies in the frontal plane, relative to the eye centre, in millimetres."""
        x = (np.abs(p[:, 0]) - self.eye[0]) * 1000
        y = (p[:, 1] - self.eye[1]) * 1000
        middle = curve([(-24, 18.0), (-18, 19.2), (-8, 21.6), (4, 24.0), (14, 24.2), (22, 22.0), (32, 16.5)], x)
        half = curve([(-24, 2.2), (-18, 3.0), (-8, 3.0), (4, 2.6), (14, 2.1), (24, 1.4), (34, 0.9)], x)
        field = half - np.abs(y - middle)
        # Round ends.
        field = np.where(x < -17, np.minimum(field, half - np.hypot(x + 17, y - middle)), field)
        field = np.where(x > 28, np.minimum(field, 1.2 - np.hypot((x - 28) / 2, y - middle)), field)
        return np.where(p[:, 2] > self.eye[2] - 0.035, field, -10)

    def hair(self, p):
        """Positive inside the hair, in degrees of elevation around the head's centre."""
        v = p - self.head_centre
        azimuth = np.degrees(np.arctan2(np.abs(v[:, 0]), v[:, 2]))
        elevation = np.degrees(np.arctan2(v[:, 1], np.hypot(v[:, 0], v[:, 2])))
        line = curve(
            [
                (0, 30),
                (16, 30.5),
                (30, 32),
                (41, 29),
                (50, 19),
                (57, 5),
                (62, -8),
                (66, -19),
                (70, -22),
                (73, -18),
                (76, -8),
            ]
            + [(81, -4), (89, -3), (97, -7), (105, -20), (114, -33), (130, -41), (150, -43), (180, -43)],
            azimuth,
        )
        return elevation - line

    def head(self):
        """Skin of head and neck with mouth and eye cavities, lips, brows and hair."""
        s, m = self.source, self.material
        skin, cavity = s.body_quads([HEAD, TORSO]), s.body_quads([MOUTH, EYE_R, EYE_L])
        quads = np.concatenate([skin, cavity])
        regions = np.where(np.arange(len(quads)) < len(skin), m["Skin"], m["Mouth"])
        surface, used = s.surface(quads, regions)
        keep = self.above_collar(surface.positions) > -0.045
        used = used[surface.keep(keep[surface.triangles].all(axis=1))]
        self.calm_offsets(surface)
        surface.split_region(lip_field(s.base, skin, used), m["Skin"], m["Lips"])
        for reach, from_x in ((4, 0), (1.5, 0), (0.8, self.eye[0] + 0.018)):
            near = (np.abs(self.brow(surface.positions)) < reach) & (np.abs(surface.positions[:, 0]) > from_x)
            surface.subdivide(near[surface.triangles].any(axis=1) & (surface.regions == m["Skin"]))
        hair = self.hair(surface.positions) > -6
        surface.subdivide(hair[surface.triangles].any(axis=1) & (surface.regions == m["Skin"]))
        surface.smooth(4, 0.5, self.hair(surface.positions) > 4)
        surface.split_region(self.brow(surface.positions), m["Skin"], m["Brows"])
        surface.split_region(self.hair(surface.positions), m["Skin"], m["Hair"])
        # A hard lower end, under the collar.
        _, above = surface.cut(self.above_collar(surface.positions) + 0.02)
        surface.keep(above)
        surface.lift(-0.003 * smoothstep(0.002, 0.012, -self.above_collar(surface.positions)))
        # Nothing below the collar may move with the face, or skin would come through the suit.
        fade = smoothstep(-0.002, 0.02, self.above_collar(surface.positions))
        surface.offsets = surface.offsets * fade[None, :, None]
        # Hair and brows have some thickness, none at their border.
        index = np.arange(len(surface.positions))
        hair = np.isin(index, surface.region_vertices(m["Hair"]))
        brow = np.isin(index, surface.region_vertices(m["Brows"]))
        lift = np.where(hair, 0.009 * smoothstep(0, 12, self.hair(surface.positions)), 0)
        lift += np.where(brow, 0.0009 * smoothstep(0, 1.5, self.brow(surface.positions)), 0)
        surface.lift(lift)
        return surface

    def calm_offsets(self, surface):
        """Irons out the dents of the face shapes on open skin; lids, lips and cavities stay exact."""
        edge = surface.region_vertices(self.material["Mouth"])
        gap = np.full(len(surface.positions), np.inf)
        for block in np.array_split(edge, 8):
            d = np.linalg.norm(surface.positions[:, None] - surface.positions[block][None], axis=2)
            gap = np.minimum(gap, d.min(axis=1))
        amount = 0.5 * smoothstep(0.006, 0.016, gap)[None, :, None]
        for _ in range(4):
            surface.offsets = surface.offsets + amount * (surface.neighbour_mean(surface.offsets) - surface.offsets)

    def hands(self):
        s, m = self.source, self.material
        surface, _ = s.surface(s.body_quads([HAND_L, HAND_R, TORSO]), m["Skin"])
        along = self.along_arm(surface.positions)
        surface.keep((along > -0.05)[surface.triangles].all(axis=1))
        _, above = surface.cut(self.along_arm(surface.positions) + 0.02)
        surface.keep(above)
        surface.lift(-0.002 * smoothstep(0.002, 0.012, -self.along_arm(surface.positions)))
        return surface


def build(data, scratch, materials, height):
    source = Source(makehuman.unzipped_wheel(data, scratch), height)
    material = {name: index for index, name in enumerate(materials)}
    dresser = Dresser(source, material)
    base, skeleton = source.base, source.skeleton

    tongue, _ = source.surface(base.quads["helper-tongue"], material["Tongue"])
    parts = [dresser.head(), tongue]
    for group in ("helper-upper-teeth", "helper-lower-teeth"):
        parts.append(teeth(source, group, material))
    for group in ("helper-l-eyelashes-2", "helper-l-eyelashes-1", "helper-r-eyelashes-2", "helper-r-eyelashes-1"):
        parts.append(lashes(source, group, material["Lashes"]))
    eye_vertices, eye_centres = {}, {}
    for side in ("Left", "Right"):
        centre, ball = source.balls[side]
        look = {SHAPES.index(f"eyeLook{name}{side}"): (name, angle) for name, angle in LOOK.items()}
        joint = skeleton.names.index(f"{side}Eye")
        start = sum(len(p.positions) for p in parts)
        parts.append(eye(centre, ball, side, look, len(SHAPES), joint, len(skeleton.names), material))
        eye_vertices[side] = np.arange(start, start + len(parts[-1].positions))
        eye_centres[side] = centre
    face = merge(parts)
    body = merge([dresser.hands(), suit(source, dresser, material)])

    ground = body.positions[:, 1].min()
    for array in (face.positions, body.positions, skeleton.positions):
        array[:, 1] -= ground
    eye_centres = {side: centre - [0, ground, 0] for side, centre in eye_centres.items()}
    return Model(skeleton, SHAPES, face, body, eye_centres, eye_vertices)
