"""Paints the eye as seen from the front: pupil, iris with its fibres, white with small vessels."""

import numpy as np

from fields import smoothstep
from paint import clouds, jpeg, linear, noise, srgb
from parts import IRIS_RADIUS_UV

SIZE = 512
PUPIL = 0.36  # of the iris' radius


def picture(size=SIZE):
    at = (np.arange(size) + 0.5) / size - 0.5
    x, y = (a.ravel() for a in np.meshgrid(at, at))
    r, turn = np.hypot(x, y) / IRIS_RADIUS_UV, np.arctan2(y, x)
    c, s = np.cos(turn), np.sin(turn)
    flat = np.stack([x, y, 0 * x], axis=1)

    # Fibres run outwards: noise that is long in r and short around.
    ring = np.stack([c * 6, s * 6, r * 1.1], axis=1)
    fibre = noise(ring, 0.42, 1) + 0.8 * noise(ring, 0.21, 2) + 0.6 * noise(ring * [1, 1, 2.2], 0.11, 3)
    wave = 0.03 * noise(np.stack([c * 3, s * 3, 0 * r], axis=1), 0.6, 4)
    inner = smoothstep(PUPIL - 0.02, PUPIL + 0.03, r + wave * 0.3)
    outer_zone = smoothstep(0.46, 0.66, r + 0.06 * fibre + wave)
    warm, cool = linear((116, 88, 58)), linear((80, 102, 100))
    iris = warm + (cool - warm) * outer_zone[:, None]
    iris = iris * np.exp(0.42 * fibre)[:, None]
    iris = iris * (0.75 + 0.65 * np.exp(-(((r - 0.60) / 0.14) ** 2)))[:, None]
    crypt = smoothstep(0.55, 0.95, noise(ring * [1, 1, 1.6], 0.5, 5)) * (r > 0.5)
    iris = iris * (1 - 0.4 * crypt)[:, None]
    limbus = smoothstep(0.78, 0.99, r)
    iris = iris * (1 - 0.86 * limbus)[:, None]
    iris = iris * inner[:, None] + 0.0015

    white = np.broadcast_to(linear((222, 214, 207)), iris.shape).copy()
    angle = r * IRIS_RADIUS_UV / 0.497
    blood = smoothstep(0.55, 1.0, angle)
    white = white * np.exp(-blood[:, None] * [0.10, 0.42, 0.42])
    white = white * np.exp((0.03 * clouds(flat, 0.08, 3, 6))[:, None] * [0.4, 1, 1])
    # Vessels: thin lines where warped noise passes zero, denser towards the corners.
    warp = flat + 0.02 * np.stack([noise(flat, 0.05, 7), noise(flat, 0.05, 8), 0 * x], axis=1)
    run = np.stack([c * 3.0, s * 3.0, r * 0.5], axis=1) + warp * 6
    vein = np.exp(-((noise(run, 0.55, 9) / 0.035) ** 2)) * smoothstep(0.1, 0.7, noise(warp, 0.11, 10))
    vein += 0.6 * np.exp(-((noise(run, 0.27, 12) / 0.04) ** 2)) * smoothstep(0.2, 0.7, noise(warp, 0.07, 13))
    vein = vein * smoothstep(0.47, 0.8, angle) * (0.35 + 0.65 * np.abs(c))
    white = white * np.exp(-0.8 * vein[:, None] * [0.15, 0.8, 0.75])
    # The lids keep light from the rim.
    white = white * (1 - 0.45 * smoothstep(0.62, 0.95, angle))[:, None]

    # And the upper one more so.
    upper = smoothstep(0.02, 0.5, -y / 0.497 - 0.10 * (1 - angle))
    white = white * np.exp(-0.55 * upper[:, None] * [0.9, 1.0, 1.0])
    iris = iris * (1 - 0.45 * smoothstep(-0.1, 0.9, -y / IRIS_RADIUS_UV))[:, None]

    edge = smoothstep(0.93, 1.07, r + 0.012 * noise(ring, 0.5, 14))
    colour = iris * (1 - edge)[:, None] + white * edge[:, None]
    return jpeg(srgb(colour).reshape(size, size, 3), 90, full_colour=True)
