"""Paints the skin: colour, fine relief, roughness and how far light reaches."""

import numpy as np

from fields import curve, smoothstep
from paint import Canvas, cells, clouds, jpeg, linear, noise, srgb
from parts import lip_distance

SIZE = 2048
SKIN = linear((203, 154, 128))
LIP = linear((170, 92, 88))
BROW = linear((52, 36, 28))
SCALP = linear((44, 32, 27))
FLESH = linear((120, 52, 48))
# Tints: what the logarithm of linear red, green and blue changes by.
BLOOD = np.array([-0.02, -0.30, -0.27])
BROWN = np.array([-0.16, -0.25, -0.34])
BLUISH = np.array([-0.16, -0.14, -0.05])
PALE = np.array([0.06, 0.07, 0.06])

# Finger nails of the left hand in the data's layout: centre, half length, half width, direction of the length.
NAILS = [
    (0.71659, 0.08155, 0.0024, 0.0019, 88.6),
    (0.58730, 0.05672, 0.0040, 0.0034, 42.1),
    (0.71143, 0.04478, 0.0035, 0.0029, 141.4),
    (0.62358, 0.01726, 0.0043, 0.0031, 77.5),
    (0.67904, 0.01469, 0.0038, 0.0031, 112.5),
]  # fmt: skip


def bump(x, y, cx, cy, rx, ry=None):
    return np.exp(-(((x - cx) / rx) ** 2) - (((y - cy) / (ry or rx)) ** 2))


def paint(lines, head, hand, head_open, hand_open, hand_normals, head_normals, size=SIZE):
    """The three pictures of the skin as JPEG files: colour, normals, and openness (red) with roughness (green)."""
    canvas = Canvas(size)
    canvas.cover(head, np.ones(len(head.triangles), dtype=bool))
    left = hand.positions[hand.triangles][:, :, 0].mean(axis=1) > 0
    canvas.cover(hand, left)
    canvas.seal()
    values = canvas.vertex_values(
        np.c_[head.positions, head_normals, head_open, head.cavity],
        np.c_[hand.positions, hand_normals, hand_open, np.zeros(len(hand.positions))],
    )
    p, n, light, cavity = values[:, :3], values[:, 3:6], np.clip(values[:, 6], 0, 1), values[:, 7]
    face = Face(lines, canvas, p, n, cavity)
    colour, height, rough = face.skin(light)
    normal = canvas.slopes(height, p)

    orm = canvas.image(np.stack([0.25 + 0.75 * light, rough, np.zeros_like(rough)], axis=1))
    half = orm.reshape(size // 2, 2, size // 2, 2, 3).mean(axis=(1, 3))
    return {
        "colour": jpeg(srgb(canvas.image(colour)), 88),
        "normal": jpeg(canvas.image(normal * 0.5 + 0.5), 80, full_colour=True),
        "orm": jpeg(half, 84),
    }


class Face:
    def __init__(self, lines, canvas, p, n, cavity):
        self.lines, self.p, self.n, self.cavity = lines, p, n, cavity
        self.is_head = canvas.number == 0
        self.uv = canvas.layout()
        eye, mouth = lines.eye, lines.mouth
        # Millimetres in the frontal plane, from the eye's centre (outwards) and from the mouth's middle.
        self.x, self.y = p[:, 0] * 1000, (p[:, 1] - eye[1]) * 1000
        self.ax = np.abs(self.x)
        self.eye_x, self.mouth_y = eye[0] * 1000, (mouth[1] - eye[1]) * 1000
        self.front = self.is_head * smoothstep(eye[2] - 0.075, eye[2] - 0.03, p[:, 2])
        self.lip = lip_distance(self.uv)  # in the layout's unit times 100; 0.1 is about a millimetre
        self.lid, self.lid_up = lines.lid_distance(p)
        self.lid, self.lid_up = self.lid * 1000, self.lid_up * 1000

    def skin(self, light):
        p, x, y, ax, front = self.p, self.x, self.y, self.ax, self.front
        ex, my = self.eye_x, self.mouth_y
        tip = self.lines.nose
        ny = (tip[1] - self.lines.eye[1]) * 1000
        inside = smoothstep(0.3, 0.7, self.cavity)
        lips = smoothstep(-0.10, 0.08, self.lip + 0.05 * noise(p, 0.0012, 5)) * self.is_head * (1 - inside)
        lids = np.exp(-((self.lid / 5.0) ** 2)) * self.front

        tint = np.zeros((len(p), 3))

        def add(weight, change):
            nonlocal tint
            tint = tint + (weight * np.ones(len(p)))[:, None] * change

        patch = clouds(p, 0.022, 3, 11)
        fine = clouds(p, 0.0035, 3, 21)
        grain = noise(p, 0.0009, 31)
        add(0.16 * patch + 0.10 * fine, BLOOD)
        add(0.09 * clouds(p, 0.009, 3, 41) + 0.05 * fine + 0.035 * grain, BROWN)
        cheeks = bump(ax, y, ex + 9, my * 0.55, 17, 15) * front
        nose = bump(x, y, 0, ny + 1, 13, 9) * front
        ears = self.is_head * smoothstep(62, 74, ax) * bump(y, y, -14, -14, 45)
        add(0.62 * cheeks * (1 + 0.35 * patch), BLOOD)
        add(0.60 * nose * (1 + 0.3 * fine), BLOOD)
        add(0.65 * ears, BLOOD)
        add(0.25 * bump(x, y, 0, my - 27, 14, 9) * front, BLOOD)
        add(0.35 * lids, BLOOD)
        add(0.30 * np.exp(-((self.lid / 7.0) ** 2)) * (self.lid_up > 0) * front, BROWN)
        add(0.42 * bump(ax, y, ex - 2, -15, 15, 6) * front, BLUISH)
        add(0.15 * bump(ax, y, ex - 2, -13, 16, 6) * front, BLOOD)
        add(0.9 * bump(x, y, 0, 42, 34, 20) * front, PALE * 0.8)
        add(0.8 * bump(x, y, 0, ny + 18, 5, 16) * front, PALE)
        add(0.9 * bump(ax, y, ex + 12, -22, 12, 6) * front, PALE)
        # Around the mouth.
        add(0.35 * bump(ax, y, self.lines.corner[0] * 1000 + 2, my, 5, 5) * front, BROWN)
        add(0.18 * np.exp(-((self.lip + 0.1) ** 2) * 10) * front * (1 - lips), BLOOD)
        add(0.9 * np.clip(1 - light * 1.5, 0, 1) ** 1.5, np.array([-0.35, -0.65, -0.65]))
        freckle, _ = cells(p, 0.0055, 61)
        rare = smoothstep(0.35, 0.75, clouds(p, 0.012, 2, 63) + 0.9 * cheeks + 0.6 * nose - 0.35)
        add(0.55 * (1 - smoothstep(0.08, 0.2, freckle)) * rare * front, BROWN)
        colour = SKIN * np.exp(tint)
        for mx, m_y, r in ((31, -52, 0.9), (-44, -30, 0.7), (-18, 33, 0.6), (12, -96, 0.8)):
            spot = 1 - smoothstep(r * 0.6, r * 1.3, np.hypot(x - mx, y - m_y) + 0.2 * grain)
            colour = mix(colour, SKIN * np.exp(3.6 * BROWN), 0.75 * spot * front)

        # Lips: lines across, darker towards the slit, a lighter brim.
        along = np.stack([p[:, 0], p[:, 1] * 0.25, p[:, 2] * 0.25], axis=1)
        creases = noise(along, 0.0011, 71) + 0.5 * noise(along, 0.0006, 72)
        slit = np.exp(-(((y - my - self.lines.slit(ax) * 1000) / 1.6) ** 2))
        lip = LIP * np.exp(0.07 * creases + 0.10 * fine - 0.5 * slit)[:, None]
        lip = lip * np.where((y > my)[:, None], [0.86, 0.80, 0.80], [1.04, 1.02, 1.0])
        colour = mix(colour, lip, 0.80 * lips)

        brows, brow_relief = self.brow_strokes()
        colour = mix(colour, BROW, 0.96 * brows)
        scalp = self.hair_roots()
        colour = mix(colour, SCALP, scalp)
        # A thin dark line where the upper lashes stand, a wet pink one at the lower lid.
        rim = np.exp(-((self.lid / 0.9) ** 2)) * self.front
        lash_line = np.exp(-((self.lid / 1.5) ** 4)) * self.front
        colour = mix(colour, linear((58, 34, 28)), 0.9 * lash_line * smoothstep(-0.3, 0.6, self.lid_up))
        colour = mix(colour, linear((190, 120, 108)), 0.6 * rim * smoothstep(0.2, 0.8, -self.lid_up))
        cave = mix(FLESH * np.exp(0.15 * patch)[:, None], linear((186, 116, 104)), (self.lid < 6) * 0.8)
        deep = np.clip(0.25 + 1.1 * light, 0.2, 1)
        colour = mix(colour, cave * deep[:, None], inside)

        nails = self.nails()
        knuckles = (1 - self.is_head) * smoothstep(0.1, 0.6, clouds(p, 0.012, 2, 81))
        colour = colour * np.exp((0.35 * knuckles * (1 - nails))[:, None] * BLOOD)
        colour = mix(colour, linear((226, 176, 160)), 0.75 * nails)

        height, pores = self.relief(lips, lids, creases, grain, fine, nails)
        height = 1.5 * height + 0.00012 * brow_relief
        colour = colour * (1 - 0.10 * pores)[:, None]
        rough = 0.50 + 0.05 * fine + 0.05 * grain
        oily = 0.8 * bump(x, y, 0, 36, 26, 18) + bump(x, y, 0, ny + 8, 9, 22) + 0.6 * bump(x, y, 0, my - 26, 13, 9)
        rough = rough - 0.10 * np.clip(oily, 0, 1) * front - 0.06 * lids
        rough = rough + 0.04 * cheeks
        rough = rough * (1 - lips) + lips * (0.36 + 0.06 * creases)
        rough = rough + 0.2 * np.maximum(scalp, brows)
        rough = rough - 0.22 * rim
        rough = rough * (1 - inside) + inside * 0.28
        rough = rough + 0.06 * (1 - self.is_head) - 0.25 * nails
        return colour, height, np.clip(rough, 0.12, 0.95)

    def relief(self, lips, lids, creases, grain, fine, nails):
        """Height in metres, and pores 0..1."""
        p, front = self.p, self.front
        d, second = cells(p, 0.00125, 91)
        pore = 1 - smoothstep(0.10, 0.38, d)
        where = 0.35 + 0.65 * np.clip(
            bump(self.ax, self.y, 22, -32, 16, 18)
            + bump(self.x, self.y, 0, -28, 13, 14)
            + bump(self.x, self.y, 0, 38, 34, 16),
            0,
            1,
        )
        where = where * (1 - lips) * (1 - 0.7 * lids) * (1 - nails)
        net = smoothstep(0.0, 0.28, second - d)  # the fine net between the cells
        height = -0.000045 * pore * where + 0.000022 * net * (1 - lips)
        height = height + 0.00003 * fine + 0.000012 * grain
        # Faint lines over the brow, below the eyes, around the knuckles.
        lines = np.stack([p[:, 0] * 0.12, p[:, 1] + 0.004 * noise(p, 0.03, 95), p[:, 2] * 0.12], axis=1)
        strip = noise(lines, 0.0042, 96)
        height = height + 0.00006 * strip * bump(self.x, self.y, 0, 44, 40, 16) * front
        folds = noise(np.stack([p[:, 0] * 0.2, p[:, 1], p[:, 2] * 0.2], axis=1), 0.0011, 97)
        height = height + 0.00004 * folds * np.exp(-(((self.lid - 3) / 6) ** 2)) * front
        height = height + 0.00010 * creases * lips
        hand = (1 - self.is_head) * (1 - nails)
        height = height + hand * (0.00008 * clouds(p, 0.0030, 3, 98) + 0.00003 * net)
        height = height + 0.0003 * nails
        return height, pore * where * front

    def nails(self):
        field = np.zeros(len(self.p))
        for u, v, length, width, degrees in NAILS:
            a = np.radians(degrees)
            d = self.uv - np.array([u, v], dtype=np.float32)
            along, across = d @ [np.cos(a), np.sin(a)], d @ [-np.sin(a), np.cos(a)]
            r = (np.abs(along / length) ** 3 + np.abs(across / width) ** 3) ** (1 / 3)
            field = np.maximum(field, 1 - smoothstep(0.88, 1.05, r))
        return field * (1 - self.is_head)

    def brow_strokes(self):
        """Single hairs, as cover 0..1 and as relief 0..1."""
        lines = self.lines
        near = np.flatnonzero((lines.brow(self.p) > -6) & (self.front > 0.2))
        x = self.ax[near] - self.eye_x
        y, side = self.y[near], np.sign(self.x[near])
        cover, relief = np.zeros(len(self.p)), np.zeros(len(self.p))
        c, h = np.zeros(len(near)), np.zeros(len(near))
        rng = np.random.default_rng(7)
        for sign in (-1, 1):
            for _ in range(430):
                along = rng.uniform(-23, 30)
                middle, half = lines.brow_middle(along), lines.brow_half(along)
                across = np.clip(rng.normal(0, 0.5), -1, 1)
                start = np.array([along, middle + across * half * 0.95])
                # Hairs rise at the inner end and lie along the brow further out, upper ones bent down.
                rise = np.radians(curve([(-25, 78), (-18, 58), (-6, 34), (8, 16), (20, 0), (32, -22)], along))
                rise += np.radians(-16 * across * smoothstep(-16, 0, along) + rng.normal(0, 7))
                length = rng.uniform(4.2, 7.2) * curve([(-25, 0.75), (0, 1), (30, 0.7)], along)
                bend = np.radians(-rng.uniform(8, 26)) * smoothstep(-20, -5, along)
                width = rng.uniform(0.15, 0.24)
                strength = rng.uniform(0.55, 1.0) * curve(
                    [(-25, 0.25), (-16, 0.75), (-6, 1), (20, 1), (31, 0.75)], along
                )
                pen = start
                for k in range(4):
                    way = np.array([np.cos(rise + bend * k / 3), np.sin(rise + bend * k / 3)]) * length / 4
                    box = (
                        (side == sign)
                        & (np.abs(x - pen[0] - way[0] / 2) < 2.5)
                        & (np.abs(y - pen[1] - way[1] / 2) < 2.5)
                    )
                    i = np.flatnonzero(box)
                    dx, dy = x[i] - pen[0], y[i] - pen[1]
                    t = np.clip((dx * way[0] + dy * way[1]) / (way @ way), 0, 1)
                    d = np.hypot(dx - t * way[0], dy - t * way[1])
                    w = width * (1 - 0.65 * ((k + t) / 4) ** 2)
                    ink = strength * np.exp(-((d / w) ** 2)) * (1 - 0.5 * ((k + t) / 4) ** 3)
                    c[i] = 1 - (1 - c[i]) * (1 - ink)
                    h[i] = np.maximum(h[i], ink)
                    pen = pen + way
        # Skin between the hairs is a little darker too.
        shadow = (
            0.36
            * smoothstep(-25, -12, x)
            * smoothstep(-1.2, 1.6, lines.brow(self.p[near]) + 0.6 * noise(self.p[near], 0.002, 9))
        )
        cover[near], relief[near] = 1 - (1 - c) * (1 - shadow), h
        return cover * self.front, relief * self.front

    def hair_roots(self):
        """How much the scalp is covered by hair, with a soft border of single hairs."""
        field = self.lines.hair(self.p)  # degrees past the hairline
        azimuth, elevation = self.lines.around(self.p)
        streak = np.stack([azimuth * 3.1, elevation * 0.16, 0 * azimuth], axis=1)
        strands = noise(streak, 1.0, 51) + 0.7 * noise(streak * [2.3, 1.2, 1], 1.0, 52)
        cover = smoothstep(-4.0, 4.0, field + 2.8 * strands + 1.2 * noise(self.p, 0.01, 53))
        return 0.95 * cover * self.is_head * (self.cavity < 0.3)


def mix(a, b, share):
    return a + (b - a) * np.asarray(share)[:, None]
