"""One bone in the middle of every upper and lower arm and leg that shares the limb's twist."""

import numpy as np

from fields import smoothstep

# The limb's joint, the joint at its end, whether the twist comes from the near end.
# The turn of a lower arm comes from the hand, so its far part follows the twist bone; that of an upper arm is its own
# and is taken back towards the shoulder, so there the near part does.
SEGMENTS = [("Arm", "ForeArm", True), ("ForeArm", "Hand", False), ("UpLeg", "Leg", True), ("Leg", "Foot", False)]


def add_twists(names, parents, heads, weights, positions):
    """Appends the bones to the lists and `heads` (name to place); returns the weights with columns for them."""
    for side in ("Left", "Right"):
        for limb, end, is_near in SEGMENTS:
            limb, end = side + limb, side + end
            joint = names.index(limb)
            names.append(limb + "Twist")
            parents.append(joint)
            heads[limb + "Twist"] = (heads[limb] + heads[end]) / 2
            way = heads[end] - heads[limb]
            along = (positions - heads[limb]) @ way / (way @ way)
            share = smoothstep(0.05, 0.95, along)
            share = (1 - share) if is_near else share
            moved = weights[:, joint] * share
            weights = np.c_[weights, moved]
            weights[:, joint] -= moved
    return weights
