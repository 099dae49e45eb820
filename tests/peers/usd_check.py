#!/usr/bin/env python3
"""Is the file USD, and do its joints and weights say what they should? Witness: OpenUSD (PyPI `usd-core` 26.11).

Every validator that OpenUSD has must be silent. Then UsdSkel itself evaluates the skeleton: joints and weights at each
frame against numbers that the exporter did not make, skinned points where the truth has them.

TRUTH.json, in the house frame (right-handed, +Y up, faces +Z, metres, quaternions x, y, z, w), all of it optional but
rate and frames; joints by the last part of their path, shapes by their token, meshes by the name of their prim:

  {"rate": 60, "frames": 3,
   "joints": {"Head": {"position": [[x, y, z], ...], "rotation": [[x, y, z, w], ...]}},   in the model, a value a frame
   "weights": {"jawOpen": [0, 0.5, 1]},
   "points": {"Face": {"2": [[x, y, z], ...]}}}                                           skinned, by frame
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

import hublib
import peerlib
from peerlib import need


def check_stage(stage, truth: dict) -> None:
    from pxr import UsdGeom, UsdValidation

    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    need(len(validators) > 10, f"validators: expected OpenUSD's own, found {len(validators)}")
    for error in UsdValidation.ValidationContext(validators).Validate(stage):
        sites = ", ".join(str(site.GetPrim().GetPath()) for site in error.GetSites() if site.GetPrim())
        raise peerlib.Fault(f"validators: expected silence, found {error.GetName()}: {error.GetMessage()} ({sites})")

    need(bool(stage.GetDefaultPrim()), "defaultPrim: expected one, found none")
    need(UsdGeom.GetStageUpAxis(stage) == "Y", f"upAxis: expected Y, found {UsdGeom.GetStageUpAxis(stage)}")
    need(UsdGeom.GetStageMetersPerUnit(stage) == 1, f"metersPerUnit: expected 1, found {UsdGeom.GetStageMetersPerUnit(stage)}")
    for name, found in (("timeCodesPerSecond", stage.GetTimeCodesPerSecond()), ("framesPerSecond", stage.GetFramesPerSecond())):
        need(math.isclose(found, truth["rate"], rel_tol=1e-9), f"{name}: expected {truth['rate']}, found {found}")
    span = (stage.GetStartTimeCode(), stage.GetEndTimeCode())
    need(span == (0, truth["frames"] - 1), f"time codes: expected 0 to {truth['frames'] - 1}, found {span[0]} to {span[1]}")
    print(f"ok stage: {len(validators)} validators are silent, {truth['frames']} frames at {truth['rate']}/s, metres, Y up")


def check_skeleton(query, truth: dict) -> str:
    from pxr import Gf

    animation = query.GetAnimQuery()
    need(bool(animation), f"{query.GetPrim().GetPath()}: expected an animation, found none")
    names = [str(path).rsplit("/", 1)[-1] for path in query.GetJointOrder()]
    wanted = truth.get("joints", {})
    missing = sorted(set(wanted) - set(names))
    need(not missing, f"joints: expected {', '.join(missing)} among {', '.join(names)}")
    worst_mm = worst_degrees = 0.0
    for frame in range(truth["frames"]):
        matrices = query.ComputeJointSkelTransforms(frame)
        need(len(matrices) == len(names), f"frame {frame}: expected {len(names)} joint transforms, found {len(matrices)}")
        for name, matrix in zip(names, matrices):
            if name not in wanted:
                continue
            found = Gf.Vec3d(matrix.ExtractTranslation())
            expected = Gf.Vec3d(*wanted[name]["position"][frame])
            off = (found - expected).GetLength() * 1000
            need(off <= 0.1, f"{name} at frame {frame}: expected {expected}, found {found}, off by {off:.3f} mm")
            x, y, z, w = wanted[name]["rotation"][frame]
            turn = matrix.ExtractRotationQuat() * Gf.Quatd(w, x, y, z).GetNormalized().GetInverse()
            degrees = math.degrees(2 * math.acos(min(1.0, abs(turn.GetNormalized().GetReal()))))
            need(degrees <= 0.1, f"{name} at frame {frame}: off by {degrees:.3f} degrees, tolerance 0.1")
            worst_mm, worst_degrees = max(worst_mm, off), max(worst_degrees, degrees)

    tokens = [str(token) for token in animation.GetBlendShapeOrder()]
    weights = truth.get("weights", {})
    missing = sorted(set(weights) - set(tokens))
    need(not missing, f"blendShapes: expected {', '.join(missing)}, found {len(tokens)} others")
    worst_weight = 0.0
    for frame in range(truth["frames"] if weights else 0):
        found = dict(zip(tokens, animation.ComputeBlendShapeWeights(frame)))
        for name, expected in weights.items():
            error = abs(found[name] - expected[frame])
            need(error <= 1e-5, f"{name} at frame {frame}: expected {expected[frame]}, found {found[name]}")
            worst_weight = max(worst_weight, error)
    return (
        f"{len(wanted)} of {len(names)} joints within {worst_mm:.4f} mm and {worst_degrees:.4f} degrees, "
        f"{len(weights)} of {len(tokens)} shapes within {worst_weight:.1e}"
    )


def check_mesh(target, stage) -> None:
    """Shapes and prims of a mesh in one order, as many offsets as points they are for."""
    from pxr import UsdSkel

    path = target.GetPrim().GetPath()
    binding = UsdSkel.BindingAPI(target.GetPrim())
    tokens = [str(t) for t in binding.GetBlendShapesAttr().Get() or []]
    prims = binding.GetBlendShapeTargetsRel().GetTargets()
    need(len(tokens) == len(prims), f"{path}: expected {len(tokens)} blend shape targets, found {len(prims)}")
    for token, prim in zip(tokens, prims):
        need(prim.name.removeprefix("shape_") in (token, token.removeprefix("shape_")), f"{path}: {token} leads to {prim}")
        shape = UsdSkel.BlendShape(stage.GetPrimAtPath(prim))
        offsets, points = shape.GetOffsetsAttr().Get(), shape.GetPointIndicesAttr().Get()
        need(len(offsets) == len(points) > 0, f"{prim}: expected an offset a point, found {len(offsets)} for {len(points)}")


def check_points(stage, root, truth: dict) -> int:
    """Bakes the skin, in memory, and compares points."""
    from pxr import Gf, UsdGeom, UsdSkel

    wanted = truth.get("points", {})
    if not wanted:
        return 0
    need(UsdSkel.BakeSkinning(root, Gf.Interval(0, truth["frames"] - 1)), "the skin: expected to be baked, was not")
    compared = 0
    for name, frames in wanted.items():
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(root.GetPrim().GetPath().AppendChild(name)))
        need(bool(mesh), f"{name}: expected a mesh, found none")
        for frame, expected in frames.items():
            found = mesh.GetPointsAttr().Get(int(frame))
            place = UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(int(frame))
            need(len(found) == len(expected), f"{name}: expected {len(expected)} points, found {len(found)}")
            for number, (a, b) in enumerate(zip(found, expected)):
                off = (place.Transform(Gf.Vec3d(a)) - Gf.Vec3d(*b)).GetLength() * 1000
                need(off <= 0.1, f"{name}: point {number} at frame {frame}: expected {b}, found {a}, off by {off:.3f} mm")
                compared += 1
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("usda", type=Path)
    parser.add_argument("truth", type=Path, metavar="TRUTH.json")
    args = parser.parse_args()
    hublib.need_packages("pxr")

    def checks() -> None:
        from pxr import Usd, UsdSkel

        truth = json.loads(args.truth.read_text(encoding="utf-8"))
        stage = Usd.Stage.Open(str(args.usda))
        need(bool(stage), f"expected a stage: {args.usda}")
        check_stage(stage, truth)
        cache, roots, meshes = UsdSkel.Cache(), 0, 0
        for prim in list(stage.Traverse()):
            if not prim.IsA(UsdSkel.Root):
                continue
            root = UsdSkel.Root(prim)
            roots += 1
            cache.Populate(root, Usd.TraverseInstanceProxies())
            for binding in cache.ComputeSkelBindings(root, Usd.TraverseInstanceProxies()):
                for target in binding.GetSkinningTargets():
                    check_mesh(target, stage)
                    meshes += 1
            skeletons = [p for p in Usd.PrimRange(prim) if p.IsA(UsdSkel.Skeleton)]
            need(len(skeletons) > 0, f"{prim.GetPath()}: expected a skeleton, found none")
            for skeleton in skeletons:
                text = check_skeleton(cache.GetSkelQuery(UsdSkel.Skeleton(skeleton)), truth)
                print(f"ok {skeleton.GetPath()}: {text}")
            points = check_points(stage, root, truth)
            print(f"ok meshes: {meshes} bound, {points} skinned points within 0.1 mm")
        need(roots == 1, f"skeleton roots: expected 1, found {roots}")

    peerlib.main(checks)


if __name__ == "__main__":
    sys.exit(main())
