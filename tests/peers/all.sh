#!/usr/bin/env bash
# Every peer in this folder, one after the other; exits 1 if any of them is not content.
# See README.md for who the witnesses are.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: all.sh [--samples FOLDER] [--out DIR]

Needs GHOSTLIGHT_BIN. Runs setup.sh (quick when done), then every check; three minutes with samples.
  --samples FOLDER  also the real takes and captures there (skipped if it does not exist)
  --out DIR         leave exported takes and, if there is a Chromium, pictures in DIR
TEXT
}

samples='' out=''
while [[ $# -gt 0 ]]; do
    case "$1" in
        -h | --help) usage; exit 0 ;;
        --samples) samples=${2:?--samples needs a folder}; shift 2 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        *) echo "all.sh: unknown argument: $1" >&2; usage >&2; exit 2 ;;
    esac
done
: "${GHOSTLIGHT_BIN:?give the path of the ghostlight binary}"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/setup.sh"
pictures=${out:+yes}
if [[ -z $out ]]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
passed=0 failed=0
check() {
    echo "== $1 ${*:2}"
    if "$here/$1" "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

rm -f "$out"/takes-python/take.* "$out"/takes-app/*/take.*
check livelinkface_peer.py --out "$out/takes-python"
check vmc_peer.py
check vmcp_peer.py
check psn_peer.py
check vmc_out_peer.py
check osc_out_peer.py
check ws_out_peer.py
[[ -z $samples ]] || check samples.sh "$samples" --out "$out/takes-app"
shopt -s nullglob
for glb in "$out"/takes-python/take.glb "$out"/takes-app/*/take.glb; do
    [[ -f $glb ]] || continue
    check gltf_check.mjs "$glb"
    check gltf_play.mjs "$glb" "${glb%.glb}.csv"
    if [[ $pictures == yes ]] && { [[ -n ${CHROMIUM:-} ]] || command -v chromium >/dev/null; }; then
        check gltf_picture.mjs "$glb" "${glb%.glb}.png"
    fi
done
# A face and, with samples, a body, through every format that holds a character.
exports=$out/exports
rm -rf "$exports"
"$GHOSTLIGHT_BIN" demo --seconds 4 --out "$exports/face" >/dev/null
takes=("$exports"/face/*.mcap)
if [[ -n $samples && -f $samples/bvh/walk01.bvh ]]; then
    mkdir -p "$exports/body"
    printf '[hub]\nrecord_folder = "%s"\n[[source]]\nkind = "file"\n[source.file]\npath = "%s"\n' \
        "$exports/body" "$(realpath "$samples/bvh/walk01.bvh")" >"$exports/body.toml"
    "$GHOSTLIGHT_BIN" record --stage "$exports/body.toml" --slate Body --seconds 4 --out "$exports/body" >/dev/null || true
    takes+=("$exports"/body/*.mcap)
fi
"$GHOSTLIGHT_BIN" export "${takes[@]}" --format glb,fbx,usda,bvh,vrma --bvh-rest own --truth --out "$exports/files" >/dev/null || true
for truth in "$exports"/files/*.truth.json; do
    base=${truth%.truth.json}
    check gltf_check.mjs "$base.glb"
    for f in "$base".{glb,fbx,usda}; do check blender_import.py "$f" "$truth"; done
    check blender_import.py --scale 0.01 "$base.bvh" "$truth"
    check usd_check.py "$base.usda" "$base.usd-truth.json"
    vrms=("$samples"/characters/{UniVRM_EmissionMigration_vrm0,VrmaInspector_Example_vrm1,debug_robot_vrm1}.vrm)
    [[ -z $samples || ! -f ${vrms[0]} ]] || check vrma_check.mjs "$base.vrma" "$base.vrma-truth.json" "${vrms[@]}"
done
check decode_speed.py
check osc_speed.py
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
