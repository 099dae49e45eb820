"""A triangle surface whose vertices carry skin weights and face offsets.

New vertices are always straight-line mixes of old ones, so they follow the skin
and every face shape without further care. Cutting along the zero line of a field
gives clean borders between materials at any distance. Texture coordinates belong to
the corners of triangles, so seams in them split no vertex before the file is written.
"""

import numpy as np

# How a triangle with so many split edges falls apart; see `Surface.subdivide`.
SPLITS = [
    [(0, 1, 2)],
    [(0, 3, 2), (3, 1, 2)],
    [(3, 1, 4), (0, 3, 4), (0, 4, 2)],
    [(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)],
]


class Surface:
    """`positions` (n,3), `offsets` (shapes,n,3), `weights` (n,joints), `triangles` (m,3), `regions` (m,).

    `uvs` (m,3,4) are two pairs per corner: where it lies in the picture (v down), and in the data's own layout (v up).
    `shade` (n,) darkens the vertices' colour, 1 leaves it.
    """

    def __init__(self, positions, offsets, weights, triangles, regions, uvs=None):
        self.positions, self.offsets, self.weights = positions, offsets, weights
        self.triangles, self.regions = np.asarray(triangles), np.asarray(regions)
        self.uvs = np.zeros((len(triangles), 3, 4)) if uvs is None else uvs
        self.shade = None

    @staticmethod
    def from_quads(positions, offsets, weights, quads, regions, quad_uvs=None):
        """Takes the vertices the quads use. Returns the surface and their old indices."""
        used, inverse = np.unique(quads, return_inverse=True)
        q = inverse.reshape(quads.shape)
        # Split along the shorter diagonal.
        p = positions[used]
        short = np.linalg.norm(p[q[:, 0]] - p[q[:, 2]], axis=1) <= np.linalg.norm(p[q[:, 1]] - p[q[:, 3]], axis=1)
        first = np.where(short[:, None], [[0, 1, 2]], [[0, 1, 3]])
        second = np.where(short[:, None], [[0, 2, 3]], [[1, 2, 3]])
        corners = np.stack([first, second], axis=1)
        quad = np.arange(len(q))[:, None, None]
        uvs = None if quad_uvs is None else quad_uvs[quad, corners].reshape(-1, 3, 4)
        triangles = q[quad, corners].reshape(-1, 3)
        regions = np.repeat(np.asarray(regions), 2)
        return Surface(p.copy(), offsets[:, used].copy(), weights[used].copy(), triangles, regions, uvs), used

    def keep(self, mask):
        """Drops the other triangles, then the vertices nobody uses. Returns the old indices of the rest."""
        used, inverse = np.unique(self.triangles[mask], return_inverse=True)
        self.triangles, self.regions = inverse.reshape(-1, 3), self.regions[mask]
        self.uvs = self.uvs[mask]
        self.positions, self.weights = self.positions[used], self.weights[used]
        self.offsets = self.offsets[:, used]
        return used

    def append_mixes(self, a, b, t):
        """New vertices at (1-t)*a + t*b. Returns the index of the first."""
        first, t = len(self.positions), np.asarray(t)[:, None]
        self.positions = np.concatenate([self.positions, self.positions[a] * (1 - t) + self.positions[b] * t])
        self.weights = np.concatenate([self.weights, self.weights[a] * (1 - t) + self.weights[b] * t])
        mixed = self.offsets[:, a] * (1 - t) + self.offsets[:, b] * t
        self.offsets = np.concatenate([self.offsets, mixed], axis=1)
        return first

    def cut(self, field, snap=0.08):
        """Cuts all triangles along field = 0. Returns the field on all vertices and, per triangle, whether it is above."""
        field = np.asarray(field, dtype=float).copy()
        edges = np.unique(np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        while True:
            # A crossing close to a vertex is moved onto it, or slivers arise.
            a, b = edges[(field[edges[:, 0]] * field[edges[:, 1]]) < 0].T
            t = field[a] / (field[a] - field[b])
            near = np.concatenate([a[t < snap], b[t > 1 - snap]])
            if len(near) == 0:
                break
            field[near] = 0
        first = self.append_mixes(a, b, t)
        field = np.concatenate([field, np.zeros(len(a))])
        middle = {(int(i), int(j)): first + k for k, (i, j) in enumerate(zip(a, b))}

        triangles, regions, uvs = [], [], []
        for triangle, region, corners in zip(self.triangles.tolist(), self.regions.tolist(), self.uvs):
            ring = []
            for n, (i, j) in enumerate(zip(triangle, triangle[1:] + triangle[:1])):
                ring.append((i, corners[n]))
                m = middle.get((min(i, j), max(i, j)))
                if m is not None:
                    share = t[m - first] if i < j else 1 - t[m - first]
                    ring.append((m, corners[n] * (1 - share) + corners[(n + 1) % 3] * share))
            if len(ring) == 3:
                triangles.append(triangle)
                regions.append(region)
                uvs.append(corners)
                continue
            for sign in (1, -1):
                part = [corner for corner in ring if field[corner[0]] * sign >= 0]
                for k in range(1, len(part) - 1):
                    three = (part[0], part[k], part[k + 1])
                    triangles.append([corner[0] for corner in three])
                    regions.append(region)
                    uvs.append(np.stack([corner[1] for corner in three]))
        self.triangles, self.regions, self.uvs = np.array(triangles), np.array(regions), np.array(uvs)
        return field, field[self.triangles].sum(axis=1) > 0

    def split_region(self, field, old, new, snap=0.08):
        """Cuts and gives the triangles of region `old` above the line the region `new`."""
        field, above = self.cut(field, snap)
        self.regions[above & (self.regions == old)] = new
        return field

    def subdivide(self, mask):
        """Splits the marked triangles in four; neighbours are split as needed to stay tight.

        New vertices bulge as the normals at both ends of their edge ask for (PN triangles).
        """
        n, p = self.normals(), self.positions
        edges = np.unique(np.sort(self.triangles[mask][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        a, b = edges.T
        first = self.append_mixes(a, b, np.full(len(edges), 0.5))
        along = p[b] - p[a]
        bulge = (along * n[b]).sum(axis=1, keepdims=True) * n[b] - (along * n[a]).sum(axis=1, keepdims=True) * n[a]
        self.positions[first:] += bulge / 8
        middle = {(int(i), int(j)): first + k for k, (i, j) in enumerate(edges)}
        triangles, regions, uvs = [], [], []
        for corners, region, at in zip(self.triangles.tolist(), self.regions.tolist(), self.uvs):
            m = [middle.get((min(p, q), max(p, q))) for p, q in zip(corners, corners[1:] + corners[:1])]
            turn = 0
            count = sum(x is not None for x in m)
            if count in (1, 2):
                while m[0] is None or (count == 2 and m[1] is None):
                    turn, m = turn + 1, m[1:] + m[:1]
            # Places 0..2 are the corners, 3..5 the middles of the edges that follow them.
            new = SPLITS[count]
            order = [(turn + n) % 3 for n in range(3)]
            place = [corners[n] for n in order] + m
            at = at[order]
            at = np.concatenate([at, (at + at[[1, 2, 0]]) / 2])
            triangles += [[place[n] for n in three] for three in new]
            uvs += [at[list(three)] for three in new]
            regions += [region] * len(new)
        self.triangles, self.regions, self.uvs = np.array(triangles), np.array(regions), np.array(uvs)

    def neighbour_mean(self, values):
        """For every vertex the mean of its neighbours' values; values is (..., n, width)."""
        edges = np.unique(np.sort(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        pairs = np.concatenate([edges, edges[:, ::-1]])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        vertices, start, count = np.unique(pairs[:, 0], return_index=True, return_counts=True)
        mean = values.copy()
        mean[..., vertices, :] = np.add.reduceat(values[..., pairs[:, 1], :], start, axis=-2) / count[:, None]
        return mean

    def smooth(self, rounds, amount, movable):
        """Moves the movable vertices towards the mean of their neighbours."""
        for _ in range(rounds):
            step = amount * (self.neighbour_mean(self.positions) - self.positions)
            self.positions = self.positions + np.where(movable[:, None], step, 0)

    def normals(self, shape=None):
        points = self.positions if shape is None else self.positions + self.offsets[shape]
        return normals(points, self.triangles)

    def soft_normals(self, rounds):
        """Normals evened out over the neighbours."""
        n = self.normals()
        for _ in range(rounds):
            n = n + self.neighbour_mean(n)
            n /= np.linalg.norm(n, axis=1, keepdims=True)
        return n

    def lift(self, distance):
        """Moves vertices along their softened normals by one distance each, in rest and in every shape alike."""
        n = self.soft_normals(3)
        self.positions = self.positions + n * np.broadcast_to(distance, len(self.positions))[:, None]

    def region_vertices(self, region):
        return np.unique(self.triangles[self.regions == region])


def normals(points, triangles):
    """Angle-weighted vertex normals."""
    corners = points[triangles]
    result = np.zeros_like(points)
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(face, axis=1, keepdims=True)
    face = face / np.where(length > 1e-14, length, 1)
    for k in range(3):
        u = corners[:, (k + 1) % 3] - corners[:, k]
        v = corners[:, (k + 2) % 3] - corners[:, k]
        dot = (u * v).sum(axis=1)
        angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), dot)
        np.add.at(result, triangles[:, k], face * angle[:, None])
    length = np.linalg.norm(result, axis=1, keepdims=True)
    return np.where(length > 1e-9, result / np.where(length > 1e-9, length, 1), [0.0, 1.0, 0.0])


def merge(surfaces):
    """One surface from several; regions stay as they are."""
    start = np.cumsum([0] + [len(s.positions) for s in surfaces])
    merged = Surface(
        np.concatenate([s.positions for s in surfaces]),
        np.concatenate([s.offsets for s in surfaces], axis=1),
        np.concatenate([s.weights for s in surfaces]),
        np.concatenate([s.triangles + o for s, o in zip(surfaces, start)]),
        np.concatenate([s.regions for s in surfaces]),
        np.concatenate([s.uvs for s in surfaces]),
    )
    merged.shade = np.concatenate([np.ones(len(s.positions)) if s.shade is None else s.shade for s in surfaces])
    return merged
