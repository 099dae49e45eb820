"""Shapes the base mesh, dresses it and gathers the parts of the character."""

from dataclasses import dataclass

import numpy as np

import makehuman
from atlas import EYE_L, EYE_R, HAND_L, HAND_R, HEAD, MOUTH, TORSO, picture_uvs
from fields import smoothstep
from hair import Hair
from lines import Lines
from parts import eye, lashes, teeth
from shade import openness
from suit import suit
from surface import Surface, merge
from twist import add_twists

# The body: a mix of the adult macro targets, then details of face and body.
GENDER = 0.06  # 0 female, 1 male
HERITAGE = {"african": 0.22, "asian": 0.36, "caucasian": 0.42}
# Targets below `mpfb2/targets`, and how much of each; those of the left side stand for both.
DETAILS = {
    "macrodetails/proportions/female-young-averagemuscle-averageweight-idealproportions": 0.55,
    "head/head-oval": 0.35,
    "head/head-fat-decr": 0.30,
    "cheek/l-cheek-bones-incr": 0.25,
    "mouth/mouth-angles-up": 0.40,
    "forehead/forehead-scale-vert-decr": 0.25,
    "nose/nose-scale-horiz-decr": 0.22,
    "nose/nose-width3-decr": 0.20,
    "chin/chin-width-decr": 0.20,
    "mouth/mouth-scale-horiz-incr": 0.12,
    "ears/l-ear-wing-decr": 0.45,
    "eyes/l-eye-scale-incr": 0.25,
    "neck/neck-scale-horiz-decr": 0.15,
}

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
# The shares of eyeBlink and eyeSquint that the calm face has: the data's eyes are wide open.
LIDS_CLOSE, LIDS_SQUINT = 0.14, 0.12
# How far the middle of the tongue drops below the jaw's own movement at jawOpen 1.0, in metres.
TONGUE_DROP = 0.018
# The share of its width that the tongue keeps, to lie within the lower teeth.
TONGUE_WIDTH = 0.72


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
    hair: Surface
    skin: tuple  # what `skin.paint` takes
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
        for name, share in DETAILS.items():
            folder, _, file = name.rpartition("/")
            for part in (file, file.replace("l-", "r-", 1)) if file.startswith("l-") else (file,):
                points += share * makehuman.read_target(data / "mpfb2" / "targets" / folder / f"{part}.target.gz")
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
        weights = np.pad(weights, ((0, 0), (0, 2)))
        self.weights = add_twists(rig.names, rig.parents, heads, weights, points)
        joints = np.stack([self.to_metres(heads[n]) for n in rig.names])
        order = rig.depth_first()
        self.weights = self.weights[:, order]
        place = {old: new for new, old in enumerate(order)}
        parents = [place.get(rig.parents[i], -1) for i in order]
        self.skeleton = Skeleton([rig.names[i] for i in order], parents, joints[order])
        self.islands = self.base.uv_islands("body")
        uvs = self.base.uvs[self.base.quad_uvs["body"]]
        self.body_uvs = np.concatenate([picture_uvs(uvs, self.islands), uvs], axis=2)
        self.close_mouth()
        self.calm_eyes()

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

    def calm_eyes(self):
        """The lids rest a little lower; a full blink ends where it did."""
        for side in ("Left", "Right"):
            blink, squint = (SHAPES.index(f"eye{name}{side}") for name in ("Blink", "Squint"))
            self.positions += LIDS_CLOSE * self.offsets[blink] + LIDS_SQUINT * self.offsets[squint]
            self.offsets[blink] = (1 - LIDS_CLOSE) * self.offsets[blink] - LIDS_SQUINT * self.offsets[squint]
            self.offsets[squint] *= 1 - LIDS_SQUINT

    def surface(self, quads, regions, uvs=None):
        regions = np.broadcast_to(np.asarray(regions, dtype=int), len(quads))
        return Surface.from_quads(self.positions, self.offsets, self.weights, quads, regions, uvs)

    def body_quads(self, islands):
        return self.base.quads["body"][np.isin(self.islands, islands)]

    def body_surface(self, islands, region):
        mask = np.isin(self.islands, islands)
        return self.surface(self.base.quads["body"][mask], region, self.body_uvs[mask])


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
    """Takes skin out of the base mesh."""

    def __init__(self, source, material):
        self.source, self.material = source, material
        self.lines = Lines(source)

    def head(self):
        """Skin of head and neck with mouth and eye cavities."""
        s, m, lines = self.source, self.material, self.lines
        surface, used = s.body_surface([HEAD, TORSO, MOUTH, EYE_R, EYE_L], m["Skin"])
        cavity = np.isin(used, np.unique(s.body_quads([MOUTH, EYE_R, EYE_L])))
        is_edge = np.isin(used, np.unique(s.body_quads([HEAD])))
        keep = lines.above_collar(surface.positions) > -0.045
        kept = surface.keep(keep[surface.triangles].all(axis=1))
        cavity, is_edge = cavity[kept], is_edge[kept]
        self.calm_offsets(surface, np.flatnonzero(cavity))
        # What lies within carries a mark, which the cuts below mix like a weight.
        surface.weights = np.c_[surface.weights, cavity & ~is_edge]
        p = surface.positions
        eye = np.linalg.norm(np.c_[np.abs(p[:, 0]), p[:, 1:]] - lines.eye, axis=1) < 0.020
        mouth = np.linalg.norm((p - lines.mouth) * [0.62, 1, 1], axis=1) < 0.0165
        nose = np.linalg.norm(p - lines.nose + [0, 0, 0.006], axis=1) < 0.016
        surface.subdivide((eye | mouth | nose)[surface.triangles].any(axis=1))
        # A hard lower end, under the collar.
        _, above = surface.cut(lines.above_collar(surface.positions) + 0.02)
        surface.keep(above)
        surface.lift(-0.003 * smoothstep(0.002, 0.012, -lines.above_collar(surface.positions)))
        # Nothing below the collar may move with the face, or skin would come through the suit.
        fade = smoothstep(-0.002, 0.02, lines.above_collar(surface.positions))
        surface.offsets = surface.offsets * fade[None, :, None]
        surface.cavity, surface.weights = surface.weights[:, -1], surface.weights[:, :-1]
        return surface

    def calm_offsets(self, surface, edge):
        """Irons out the dents of the face shapes on open skin; lids, lips and cavities stay exact."""
        gap = np.full(len(surface.positions), np.inf)
        for block in np.array_split(edge, 8):
            d = np.linalg.norm(surface.positions[:, None] - surface.positions[block][None], axis=2)
            gap = np.minimum(gap, d.min(axis=1))
        amount = 0.5 * smoothstep(0.006, 0.016, gap)[None, :, None]
        for _ in range(4):
            surface.offsets = surface.offsets + amount * (surface.neighbour_mean(surface.offsets) - surface.offsets)

    def hands(self):
        s, m, lines = self.source, self.material, self.lines
        surface, _ = s.body_surface([HAND_L, HAND_R, TORSO], m["Skin"])
        along = lines.along_arm(surface.positions)
        surface.keep((along > -0.05)[surface.triangles].all(axis=1))
        _, above = surface.cut(lines.along_arm(surface.positions) + 0.02)
        surface.keep(above)
        surface.lift(-0.002 * smoothstep(0.002, 0.012, -lines.along_arm(surface.positions)))
        return surface


def build(data, scratch, materials, height):
    source = Source(makehuman.unzipped_wheel(data, scratch), height)
    material = {name: index for index, name in enumerate(materials)}
    dresser = Dresser(source, material)
    base, skeleton = source.base, source.skeleton

    head, hands = dresser.head(), dresser.hands()
    tongue, _ = source.surface(base.quads["helper-tongue"], material["Tongue"])
    mouth = [tongue] + [teeth(source, group, material) for group in ("helper-upper-teeth", "helper-lower-teeth")]
    hairs = []
    for group in ("helper-l-eyelashes-2", "helper-l-eyelashes-1", "helper-r-eyelashes-2", "helper-r-eyelashes-1"):
        hairs.append(lashes(source, group, material["Lashes"]))
    eyes, eye_vertices, eye_centres = [], {}, {}
    start = sum(len(p.positions) for p in [head, *mouth, *hairs])
    for side in ("Left", "Right"):
        centre, ball = source.balls[side]
        look = {SHAPES.index(f"eyeLook{name}{side}"): (name, angle) for name, angle in LOOK.items()}
        joint = skeleton.names.index(f"{side}Eye")
        eyes.append(eye(centre, ball, side, look, len(SHAPES), joint, len(skeleton.names), material["Eyes"]))
        eye_vertices[side] = np.arange(start, start + len(eyes[-1].positions))
        start += len(eyes[-1].positions)
        eye_centres[side] = centre
    clothes = suit(source, dresser.lines, material)
    hair = merge(Hair(dresser.lines, head, skeleton, len(SHAPES)).build(material["Hair"]))

    around = [head, *mouth, *eyes]
    head_normals, hand_normals = head.normals(), hands.normals()
    head_open = even(head, openness(head.positions, head_normals, [*around, clothes]), 1)
    hand_open = even(hands, openness(hands.positions, hand_normals, [hands, clothes]), 1)
    for part in mouth:
        part.shade = np.clip(0.35 + 1.1 * openness(part.positions, part.normals(), around), 0, 1)
    clothes.shade = 0.35 + 0.65 * even(clothes, openness(clothes.positions, clothes.normals(), [clothes, head]), 2)
    skin = (dresser.lines, head, hands, head_open, hand_open, hand_normals, head_normals)

    face = merge([head, *mouth, *hairs, *eyes])
    body = merge([hands, clothes])
    ground = body.positions[:, 1].min()
    for array in (face.positions, body.positions, hair.positions, skeleton.positions):
        array[:, 1] -= ground
    eye_centres = {side: centre - [0, ground, 0] for side, centre in eye_centres.items()}
    return Model(skeleton, SHAPES, face, body, hair, skin, eye_centres, eye_vertices)


def even(surface, values, rounds):
    """Values evened out over the neighbours."""
    values = values[:, None]
    for _ in range(rounds):
        values = (values + surface.neighbour_mean(values)) / 2
    return values[:, 0]
