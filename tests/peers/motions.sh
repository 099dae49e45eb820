#!/usr/bin/env bash
# Real motions onto real characters in a table: source, FK copying, three.js SkeletonUtils, and ours.
# Witness: three.js, with the same files, bones and scales. Ours are measured by the tests, the peer's numbers too.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: motions.sh SAMPLES [--out DIR]

SAMPLES holds bvh/ and characters/. Needs cargo and node; some minutes, after what has to be compiled.
  --out DIR   leave motions.md, the table, and sheets/*.svg, source beside target, in DIR
TEXT
}

samples='' out=''
while [[ $# -gt 0 ]]; do
    case "$1" in
        -h | --help) usage; exit 0 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        -*) echo "motions.sh: unknown option: $1" >&2; usage >&2; exit 2 ;;
        *) samples=$1; shift ;;
    esac
done
[[ -n $samples ]] || { usage >&2; exit 2; }
if [[ ! -d $samples/bvh || ! -d $samples/characters ]]; then
    echo "skipped: no bvh and characters in $samples"
    exit 0
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
GHOSTLIGHT_SAMPLES=$(cd "$samples" && pwd)
export GHOSTLIGHT_SAMPLES
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -n $out ]]; then
    mkdir -p "$out"
    out=$(cd "$out" && pwd)
fi

# A test by its whole name, bounded.
journey() {
    (cd "$here/../.." && timeout 1800 cargo test --quiet --locked -p tests --test it "motions::$1" -- --ignored --exact --nocapture)
}

"$here/setup.sh"
echo "== what the peer has to know"
GHOSTLIGHT_WRITE_MAPS=$work journey maps_for_a_peer
echo "== three.js"
"$here/retarget_peer.mjs" "$work"
if [[ -n $out ]]; then
    echo "== sheets"
    GHOSTLIGHT_SHEETS=$out/sheets journey sheets_of_source_beside_target
fi
echo "== table"
status=0
GHOSTLIGHT_PEER_MOTIONS=$work journey motions_on_characters_in_a_table | tee "$work/log" || status=1
if [[ -n $out ]]; then
    grep -E '^(\||In each cell)' "$work/log" | sed 's/^In each cell.*/&\n/' >"$out/motions.md"
    echo "wrote $out/motions.md"
fi
exit $status
