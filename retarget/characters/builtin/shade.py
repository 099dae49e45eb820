"""How much of the surroundings every vertex sees, from a coarse grid of filled cells."""

import numpy as np


def openness(points, normals, occluders, cell=0.0025, reach=0.09, start=0.004, directions=64):
    """0 (closed in) to 1 (open) for every point; `occluders` are surfaces."""
    filled = np.concatenate([samples(s, cell * 0.7) for s in occluders])
    low = np.minimum(filled.min(axis=0), points.min(axis=0)) - reach - 2 * cell
    high = np.maximum(filled.max(axis=0), points.max(axis=0)) + reach + 2 * cell
    shape = np.ceil((high - low) / cell).astype(int) + 1
    grid = np.zeros(shape, dtype=bool)
    grid[tuple(((filled - low) / cell).astype(int).T)] = True

    # Evenly spread over the sphere; those behind the surface count nothing.
    k = np.arange(directions) + 0.5
    z = 1 - 2 * k / directions
    turn = np.pi * (1 + 5**0.5) * k
    way = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    seen, total = np.zeros(len(points)), np.zeros(len(points))
    for d in way:
        cosine = normals @ d
        front = cosine > 0.05
        at = points[front] + normals[front] * start
        light = np.ones(front.sum())
        length = start
        while length < reach:
            hit = grid[tuple(((at + d * length - low) / cell).astype(int).T)]
            # What is far away takes less.
            light = np.where(hit, np.minimum(light, length / reach), light)
            length += cell
        seen[front] += light * cosine[front]
        total[front] += cosine[front]
    return seen / np.maximum(total, 1e-9)


def samples(surface, spacing):
    """Points over all triangles, no further apart than the spacing."""
    corners = surface.positions[surface.triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    steps = np.minimum(np.ceil(longest / spacing).astype(int), 40)
    found = [surface.positions]
    for n in np.unique(steps):
        some = corners[steps == n]
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
        inside = i + j <= n
        mix = np.stack([i[inside], j[inside], n - i[inside] - j[inside]], axis=1) / n
        found.append(np.einsum("kc,tcx->tkx", mix, some).reshape(-1, 3))
    return np.concatenate(found)
