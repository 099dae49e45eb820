"""Where collar, cuffs, brows, lips, lids and hairline lie."""

import numpy as np

from atlas import EYE_L, HEAD, MOUTH
from fields import curve, unit


class Lines:
    """Places and fields over the shaped base mesh, in metres unless said otherwise."""

    def __init__(self, source):
        self.source = source
        at = source.skeleton.at
        self.neck = at("Neck")
        self.collar_normal = unit(unit(at("Head") - at("Neck")) + [0, 0.6, 0])
        self.collar_point = self.neck + self.collar_normal * 0.016
        self.eye = source.balls["Left"][0]
        self.head_centre = np.array([0, self.eye[1] + 0.025, self.eye[2] - 0.085])
        rim = source.positions[np.intersect1d(source.body_quads([HEAD]), source.body_quads([MOUTH]))]
        self.mouth = (rim.min(axis=0) + rim.max(axis=0)) / 2 * [0, 1, 1]
        self.corner = rim[np.argmax(rim[:, 0])]
        self.rim = rim
        skin = source.positions[np.unique(source.body_quads([HEAD]))]
        self.nose = skin[np.argmax(skin[:, 2] - 10 * np.abs(skin[:, 0]))] * [0, 1, 1]
        lid = source.positions[np.intersect1d(source.body_quads([HEAD]), source.body_quads([EYE_L]))]
        turn = np.arctan2(lid[:, 1] - self.eye[1], lid[:, 0] - self.eye[0])
        lid = lid[np.argsort(turn, kind="stable")]
        t = (np.arange(8) / 8)[:, None]
        self.lid = np.concatenate([a * (1 - t) + b * t for a, b in zip(lid, np.roll(lid, -1, axis=0))])
        inner, outer = self.lid[np.argmin(self.lid[:, 0])], self.lid[np.argmax(self.lid[:, 0])]
        share = (self.lid[:, 0] - inner[0]) / (outer[0] - inner[0])
        self.lid_height = self.lid[:, 1] - (inner[1] + share * (outer[1] - inner[1]))

    def lid_distance(self, p):
        """Metres to the rim of the lids, and how far the nearest place of it lies above the line between the corners."""
        q = np.c_[np.abs(p[:, 0]), p[:, 1:]]
        distance, height = np.full(len(p), 1.0), np.zeros(len(p))
        near = np.flatnonzero(np.linalg.norm(q - self.eye, axis=1) < 0.05)
        for block in np.array_split(near, len(near) // 4000 + 1):
            d = np.linalg.norm(q[block][:, None] - self.lid[None], axis=2)
            nearest = d.argmin(axis=1)
            distance[block], height[block] = d[np.arange(len(block)), nearest], self.lid_height[nearest]
        return distance, height

    def slit(self, ax_mm):
        """Height of the line between the lips over their middle, for distances from the middle in millimetres."""
        x = np.abs(self.rim[:, 0])
        edges = np.linspace(0, self.corner[0] + 1e-4, 7)
        middle = [self.rim[(x >= a) & (x <= b), 1].mean() for a, b in zip(edges, edges[1:])]
        return np.interp(ax_mm / 1000, (edges[:-1] + edges[1:]) / 2, middle) - self.mouth[1]

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

    def brow_middle(self, x):
        """Height of a brow over the eye's centre in the frontal plane, x outwards from it, in millimetres."""
        return curve([(-24, 16.0), (-18, 17.0), (-8, 19.2), (4, 21.6), (14, 22.4), (22, 20.6), (32, 15.0)], x)

    def brow_half(self, x):
        return curve([(-24, 2.5), (-18, 3.5), (-8, 3.7), (4, 3.3), (14, 2.6), (24, 1.7), (34, 0.9)], x)

    def brow(self, p):
        """Positive inside a brow, in millimetres."""
        x = (np.abs(p[:, 0]) - self.eye[0]) * 1000
        y = (p[:, 1] - self.eye[1]) * 1000
        middle, half = self.brow_middle(x), self.brow_half(x)
        field = half - np.abs(y - middle)
        # Round ends.
        field = np.where(x < -20, np.minimum(field, half - np.hypot(x + 20, y - middle)), field)
        field = np.where(x > 28, np.minimum(field, 1.2 - np.hypot((x - 28) / 2, y - middle)), field)
        return np.where(p[:, 2] > self.eye[2] - 0.035, field, -10)

    def hairline(self, azimuth):
        """Elevation of the hairline around the head's centre, in degrees."""
        return curve(
            [
                (0, 30.5),
                (10, 30.2),
                (20, 28.8),
                (28, 26.2),
                (35, 22),
                (42, 16),
                (49, 9),
                (56, 2),
                (62, -4),
                (67, -9),
                (71, -12),
            ]
            + [
                (75, -10),
                (79, -5),
                (84, -1),
                (89, 0),
                (94, -4),
                (98, -18),
                (102, -34),
                (110, -43),
                (130, -48),
                (150, -51),
                (180, -50),
            ],
            azimuth,
        )

    def around(self, p):
        v = p - self.head_centre
        azimuth = np.degrees(np.arctan2(np.abs(v[:, 0]), v[:, 2]))
        return azimuth, np.degrees(np.arctan2(v[:, 1], np.hypot(v[:, 0], v[:, 2])))

    def hair(self, p):
        """Positive inside the hair, in degrees of elevation around the head's centre."""
        azimuth, elevation = self.around(p)
        return elevation - self.hairline(azimuth)
