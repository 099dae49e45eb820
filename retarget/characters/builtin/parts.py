"""Parts of the head that are made rather than taken: eyeballs, lash spikes, lip line, teeth."""

import numpy as np

from fields import smoothstep
from surface import Surface

# The outline of the lips in the texture layout: distance from the centre every 11.25 degrees
# (read from the lips mask of MPFB2).
LIP_CENTRE = (0.90967, 0.48291)
LIP_RADII = [
    0.0150, 0.0154, 0.0157, 0.0166, 0.0172, 0.0184, 0.0195, 0.0204, 0.0194, 0.0204, 0.0204, 0.0193, 0.0186, 0.0175, 0.0164, 0.0149,
    0.0135, 0.0144, 0.0157, 0.0166, 0.0179, 0.0193, 0.0204, 0.0209, 0.0195, 0.0199, 0.0195, 0.0184, 0.0172, 0.0166, 0.0157, 0.0154,
]  # fmt: skip


def lip_distance(uv):
    """Positive inside the outline of the lips, for places in the data's layout, in hundredths of its unit."""
    d = uv - np.array(LIP_CENTRE, dtype=uv.dtype)
    angle = np.degrees(np.arctan2(d[:, 1], d[:, 0])) % 360
    radius = np.interp(angle, np.arange(33) * 11.25, LIP_RADII + LIP_RADII[:1])
    return (radius - np.hypot(d[:, 0], d[:, 1])) * 100


# Angle of the iris' edge from the optical axis, in degrees.
IRIS_ANGLE = 22.0
# The eye's picture shows the ball from the front: the iris' edge lies this far from its middle.
IRIS_RADIUS_UV = 0.497 * float(np.sin(np.radians(IRIS_ANGLE)))


def eye(centre, ball, side, look, shape_count, joint, joint_count, region):
    """An eyeball of the data's size with a slightly raised cornea."""
    radius = np.linalg.norm(ball - centre, axis=1).mean()
    # Ring angles from the optical axis in degrees.
    rings = [5, 10, 15, 19, 22, 25, 29, 36, 46, 58, 72, 88, 106, 122]
    around = 30
    turn = np.arange(around) * 2 * np.pi / around
    points, triangles = [[0, 0, 1.0]], []
    for k, degrees in enumerate(rings):
        a = np.radians(degrees)
        points += [[np.sin(a) * np.cos(t), np.sin(a) * np.sin(t), np.cos(a)] for t in turn]
        outer = 1 + k * around
        for i in range(around):
            j = (i + 1) % around
            if k == 0:
                triangles.append([0, outer + i, outer + j])
            else:
                inner = outer - around
                triangles += [[inner + i, outer + i, outer + j], [inner + i, outer + j, inner + j]]
    directions = np.array(points)
    angle = np.degrees(np.arccos(np.clip(directions[:, 2], -1, 1)))
    flat = np.linalg.norm(directions[:, :2], axis=1)
    across = directions[:, :2] / np.maximum(flat, 1e-9)[:, None]
    reach = np.where(angle < 90, flat, 1)
    uv = 0.5 + 0.497 * reach[:, None] * across * [1 if side == "Left" else -1, -1]
    directions = directions * (1 + 0.028 * (1 - smoothstep(0, 1, angle / 27)))[:, None]
    offsets = np.zeros((shape_count, len(points), 3))
    for shape, (name, angle) in look.items():
        a = np.radians(angle)
        c, s = np.cos(a), np.sin(a)
        if name in ("Up", "Down"):
            s = s if name == "Up" else -s
            rotation = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        else:
            left = (name == "Out") == (side == "Left")
            s = s if left else -s
            rotation = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        offsets[shape] = (directions @ rotation.T - directions) * radius
    weights = np.zeros((len(points), joint_count))
    weights[:, joint] = 1
    triangles = np.array(triangles)
    uvs = np.concatenate([uv[triangles], np.zeros((len(triangles), 3, 2))], axis=2)
    return Surface(centre + directions * radius, offsets, weights, triangles, np.full(len(triangles), region), uvs)


def quad_grid(quads):
    """The vertices of a strip of quads as a grid, by walking its neighbours."""
    neighbours, faces = {}, {}
    for q in quads.tolist():
        for i, j in zip(q, q[1:] + q[:1]):
            neighbours.setdefault(i, set()).add(j)
            neighbours.setdefault(j, set()).add(i)
        for i in q:
            faces.setdefault(i, []).append(q)
    corner = min(i for i, f in faces.items() if len(f) == 1)

    def walk(start, second):
        row = [start, second]
        while len(neighbours[row[-1]]) > 2:
            edge = [n for n in neighbours[row[-1]] if n not in row and len(faces[n]) <= 2]
            row.append(edge[0])
        return row

    rows = [walk(corner, n) for n in sorted(neighbours[corner])]
    first = max(rows, key=len)
    grid, seen = [first], set(first)
    while True:
        following = []
        for i in grid[-1]:
            left = [n for n in neighbours[i] if n not in seen]
            if not left:
                break
            following.append(left[0])
        if len(following) < len(first):
            return np.array(grid)
        grid.append(following)
        seen.update(following)


def lashes(source, group, region):
    """Single lashes: thin spikes over the data's lash strip, from its root row to its tip row."""
    upper = group.endswith("2")
    count, width, length = (70, 0.40, 0.95) if upper else (36, 0.17, 0.40)
    grid = quad_grid(source.base.quads[group])
    lid = source.positions[np.unique(source.body_quads([0]))]
    gap = [
        np.linalg.norm(source.positions[row][:, None] - lid[None], axis=2).min(axis=1).mean()
        for row in (grid[0], grid[-1])
    ]
    if gap[0] > gap[1]:
        grid = grid[::-1]
    x = np.abs(source.positions[grid[0]][:, 0])
    if x[0] > x[-1]:
        grid = grid[:, ::-1]
    rows, columns = grid.shape

    def mix(array, u, v):
        """Bilinear sample of a per-vertex array; u along the lid, v from root to tip, both 0..1."""
        a, b = np.clip(u, 0, 1) * (columns - 1), np.clip(v, 0, 1) * (rows - 1)
        i, j = np.minimum(a.astype(int), columns - 2), np.minimum(b.astype(int), rows - 2)
        s, t = (a - i), (b - j)
        total = 0
        for di, ws in ((0, 1 - s), (1, s)):
            for dj, wt in ((0, 1 - t), (1, t)):
                w = ws * wt
                picked = array[..., grid[j + dj, i + di], :]
                total = total + picked * w[:, None]
        return total

    us, vs, triangles = [], [], []
    for k in range(count):
        centre = (k + 0.5 + 0.3 * np.sin(k * 12.9)) / count
        half = width / count
        # Short at the inner corner, longest past the middle; neighbours lean together in small groups.
        reach = (
            length * (0.55 + 0.45 * np.sin(np.pi * min(1, 0.18 + 0.62 * centre))) * (0.82 + 0.18 * ((k * 7) % 5) / 4)
        )
        lean = 0.035 * (centre - 0.35) + 0.010 * np.sin(k * 2.1)
        n = len(us)
        for step, share in ((0.0, 1.0), (0.4, 0.8), (0.75, 0.5)):
            middle = centre + lean * step
            us += [middle - half * share, middle + half * share]
            vs += [step * reach] * 2
        us.append(centre + lean)
        vs.append(reach)
        for m in (n, n + 2):
            triangles += [[m, m + 1, m + 3], [m, m + 3, m + 2]]
        triangles.append([n + 4, n + 5, n + 6])
    us, vs = np.array(us), np.array(vs)
    return Surface(
        mix(source.positions, us, vs),
        mix(source.offsets, us, vs),
        mix(source.weights, us, vs),
        np.array(triangles),
        np.full(len(triangles), region),
    )


# Half of each dental arch, from the middle to the back, in millimetres: how wide every tooth is along the arch,
# how high its crown, how thick. The last molars are left out; nobody sees them.
UPPER_TEETH = [(7.9, 9.6, 2.4), (6.2, 8.6, 2.3), (6.9, 9.2, 3.0), (6.2, 7.6, 4.6), (6.0, 7.0, 4.8), (8.4, 6.4, 5.6)]
LOWER_TEETH = [(5.2, 8.0, 2.2), (5.6, 8.0, 2.2), (6.3, 8.6, 2.8), (6.2, 7.4, 4.2), (6.2, 6.8, 4.6)]
# An arch is half an ellipse: half its width, its depth, where the front of the biting edge is (y, z).
UPPER_ARCH = (20.6, 33.0, 1522.0, 139.4)
LOWER_ARCH = (18.8, 31.2, 1521.6, 136.6)
# Columns over a front tooth and over a molar; the first stands for the gap to the tooth before.
TOOTH_COLUMNS = (0, 0.04, 0.16, 0.38, 0.62, 0.84, 0.96)
MOLAR_COLUMNS = (0, 0.04, 0.3, 0.7, 0.96)
# How much lower than the front teeth the back of the lower row stands, in millimetres: level when the jaw is half
# open, or the row would climb towards the corner of the mouth.
LOWER_SINK = 5.5


def teeth(source, group, material):
    """A row of crowns in a gum, as one band with grooves; it follows the jaw as the data's row of teeth does."""
    upper = group == "helper-upper-teeth"
    half_width, depth, edge, front = UPPER_ARCH if upper else LOWER_ARCH
    half = UPPER_TEETH if upper else LOWER_TEETH
    row = half[::-1] + half
    starts = np.cumsum([0] + [width for width, _, _ in row])
    turn = np.linspace(-np.pi / 2, np.pi / 2, 2001)
    curve = np.stack([half_width * np.sin(turn), depth * (np.cos(turn) - 1)], axis=1)
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])

    points, regions = [], []
    columns = []
    orders = list(range(len(half)))
    for k, order in enumerate(orders[::-1] + orders):
        columns += [(k, order, u) for u in (MOLAR_COLUMNS if order > 2 else TOOTH_COLUMNS)]
    columns.append((*columns[-1][:2], 1))
    for k, order, u in columns:
        width, height, thick = row[k]
        before = row[max(k - 1, 0)]
        gap = u in (0, 1)
        if u == 0:
            height, thick = (height + before[1]) / 2, (thick + before[2]) / 2
        side = abs(2 * u - 1)
        s = np.interp(starts[k] + u * width - starts[-1] / 2 + length[-1] / 2, length, turn)
        x, z = half_width * np.sin(s), depth * (np.cos(s) - 1)
        outward = np.array([np.sin(s) / half_width, np.cos(s) / depth])
        outward /= np.linalg.norm(outward)
        # The edge of a canine is a blunt point, the others' corners are round; gums reach down between the teeth.
        lift = (1.3 * side if order == 2 else 0.15 * side) + 0.55 * side**6 + (0.35 if gap else 0)
        lift += 0.5 if upper and order == 1 else 0
        sink = 0 if upper else LOWER_SINK * (-z / depth) ** 1.25
        inset = 0.15 + 0.45 * side**3 + (0.75 if gap else 0)
        lift += 3 if len(points) == 0 or u == 1 else 0  # the ends of the row go down to the gums
        gum = height - 1.7 * side**2
        profile = [
            (-1.2, height + 6),
            (0.55, height + 2.2),
            (0.30, gum + 0.5),
            (-inset, gum),
            (0.50 - inset, 0.5 * gum),
            (-0.15 - inset, lift + 0.55),
            (-0.75 - inset * 0.4, lift),
            (-thick + (0.6 if order > 2 else 0.4), lift + (0.4 if order > 2 else 0.15)),
            (-thick - 0.6, 0.45 * gum),
            (-thick - 1.4, gum),
            (-thick - 3.0, height + 3),
        ]
        for offset, h in profile:
            h = (max(h, lift) + sink) * (1 if upper else -1)
            points.append([x + outward[0] * offset, edge + h, front + z + outward[1] * offset])
    rows = len(profile)
    points = np.array(points) / 1000

    triangles = []
    for i, (_, _, u) in enumerate(columns[:-1]):
        beside_gap = u in (TOOTH_COLUMNS[0], TOOTH_COLUMNS[-1])
        for j in range(rows - 1):
            a, b = i * rows + j, (i + 1) * rows + j
            quad = [a, b, b + 1, a + 1] if not upper else [a, a + 1, b + 1, b]
            triangles += [quad[:3], [quad[0], *quad[2:]]]
            name = "Gums" if j < 3 or j > 8 else "TeethGaps" if beside_gap and j < 7 else "Teeth"
            regions += [material[name]] * 2

    # The data moves its teeth stiffly; take that movement over.
    known = np.unique(source.base.quads[group])
    affine = np.c_[source.positions[known], np.ones(len(known))]
    offsets = np.zeros((len(source.offsets), len(points), 3))
    for shape, moved in enumerate(source.offsets[:, known]):
        if np.abs(moved).max() > 1e-3:
            offsets[shape] = np.c_[points, np.ones(len(points))] @ np.linalg.lstsq(affine, moved, rcond=None)[0]
    weights = np.tile(source.weights[known[0]], (len(points), 1))
    return Surface(points, offsets, weights, np.array(triangles), np.array(regions))
