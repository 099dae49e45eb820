"""Small functions of position, used to draw lines on the surfaces."""

import numpy as np


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def curve(points, x):
    """A smooth curve through the (x, y) points: monotone cubic pieces."""
    px, py = np.array(points, dtype=float).T
    slope = np.gradient(py, px)
    i = np.clip(np.searchsorted(px, x) - 1, 0, len(px) - 2)
    h = px[i + 1] - px[i]
    t = np.clip((x - px[i]) / h, 0, 1)
    return (
        (2 * t**3 - 3 * t**2 + 1) * py[i]
        + (t**3 - 2 * t**2 + t) * h * slope[i]
        + (3 * t**2 - 2 * t**3) * py[i + 1]
        + (t**3 - t**2) * h * slope[i + 1]
    )


def unit(v):
    return v / np.linalg.norm(v)
