#!/usr/bin/env bash
# Real takes and captures of the Live Link Face app, if a folder of them is there, through ghostlight and back.
# Witnesses: the app (its CSVs and its datagrams), a plain struct unpack, PyLiveLinkFace.
# Without the folder nothing is checked, one line says so, and the exit code is 0.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: samples.sh FOLDER [--out DIR]

Plays FOLDER/livelinkface/*.csv and FOLDER/protocols/livelinkface/take_v1.4.2/*.csv through csv_roundtrip.py,
and the captured datagrams through capture_decode.py. Needs GHOSTLIGHT_BIN. Takes about a minute.
  --out DIR   leave take.csv and take.glb of each in DIR/<name of the CSV>_<first row>
TEXT
}

folder='' out=''
while [[ $# -gt 0 ]]; do
    case "$1" in
        -h | --help) usage; exit 0 ;;
        --out) out=${2:?--out needs a folder}; shift 2 ;;
        -*) echo "samples.sh: unknown option: $1" >&2; usage >&2; exit 2 ;;
        *) folder=$1; shift ;;
    esac
done
[[ -n $folder ]] || { usage >&2; exit 2; }
if [[ ! -d $folder ]]; then
    echo "skipped: no sample folder at $folder"
    exit 0
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failed=0
round_trip() {
    local csv=$1 start=$2 rows=$3
    if [[ ! -f $csv ]]; then
        echo "skipped ${csv#"$folder"/}: not in the folder"
        return
    fi
    python3 "$here/csv_roundtrip.py" "$csv" --from "$start" --rows "$rows" ${out:+--out "$out/$(basename "$csv" .csv)_$start"} || failed=1
}

round_trip "$folder/livelinkface/app_take_rom_30fps_first900.csv" 0 240
# Row 595 is followed by a lost camera frame.
round_trip "$folder/livelinkface/app_take_rom_30fps_first900.csv" 540 120
round_trip "$folder/livelinkface/MySlate_161_iPhone_cal.csv" 0 480
# Row 120 is followed by a cut of 25 s.
round_trip "$folder/protocols/livelinkface/take_v1.4.2/MySlate_24_first120_last5.csv" 0 120
python3 "$here/capture_decode.py" "$folder" || failed=1
exit $failed
