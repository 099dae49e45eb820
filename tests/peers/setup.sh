#!/usr/bin/env bash
# Installs the independent programs that judge ghostlight (see README.md here)
# into one folder: a Python environment with what requirements.txt pins, and the
# npm packages gltf-validator, three and playwright-core, all at pinned versions.
# Running it again does nothing unless a pin changed.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: setup.sh [--with-chromium] [--with-blender] [--force]

Installs the peers into $GHOSTLIGHT_PEERS (default: target/peers in the repository).
  --with-chromium  also `apt-get install -y chromium` if no chromium is there (needs root;
                   only gltf_picture.mjs uses it)
  --with-blender   also Blender 5.0.1 as a Python module, if there is a python3.11 (1.2 GB, some minutes;
                   only blender_import.py uses it)
  --force          install again even if nothing changed
TEXT
}

with_chromium=no with_blender=no force=no
for arg in "$@"; do
    case "$arg" in
        --with-chromium) with_chromium=yes ;;
        --with-blender) with_blender=yes ;;
        --force) force=yes ;;
        -h | --help) usage; exit 0 ;;
        *) echo "setup.sh: unknown argument: $arg" >&2; usage >&2; exit 2 ;;
    esac
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peers=${GHOSTLIGHT_PEERS:-$here/../../target/peers}
mkdir -p "$peers"
peers=$(cd "$peers" && pwd)
stamp=$peers/installed.sha256
want=$(cat "$here/requirements.txt" "$here/package.json" | sha256sum | cut -d' ' -f1)

if [[ $force == no && -f $stamp && $(<"$stamp") == "$want" && -x $peers/venv/bin/python ]]; then
    echo "peers: already in $peers"
else
    for tool in python3 node npm; do
        command -v "$tool" >/dev/null || { echo "setup.sh: $tool not found; install it first" >&2; exit 1; }
    done
    rm -f "$stamp"
    if [[ ! -x $peers/venv/bin/pip ]]; then
        python3 -m venv --clear "$peers/venv" || {
            echo "setup.sh: python3 could not make a virtual environment (Debian: python3-venv)" >&2; exit 1; }
    fi
    "$peers/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/package.json" "$peers/package.json"
    # No lock file: it would record the hosts of whichever registry served it. The pins are exact.
    (cd "$peers" && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error)
    echo "$want" >"$stamp"
    echo "peers: installed in $peers"
fi

if [[ $with_chromium == yes ]] && ! command -v chromium >/dev/null; then
    apt-get install -y chromium || { apt-get update && apt-get install -y chromium; }
fi

if [[ $with_blender == yes && ! -f $peers/blender/installed ]] && command -v python3.11 >/dev/null; then
    python3.11 -m venv --clear "$peers/blender"
    "$peers/blender/bin/pip" install --quiet --disable-pip-version-check bpy==5.0.1
    touch "$peers/blender/installed"
fi
