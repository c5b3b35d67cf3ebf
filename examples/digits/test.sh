#!/usr/bin/env bash
# Trains the example on two ranks, in a copy so that the tree stays clean, and looks at what the run left.
# test.sh KFTC KFT-RANK
set -euo pipefail
kftc=$(realpath "$1")
KFT_RANK=$(realpath "$2")
export KFT_RANK
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$here/digits.kft" "$here/data" "$folder"
cd "$folder"

options=(--run-dir run)
((EUID == 0)) && options+=(--allow-root)
(($(nproc) < 2)) && options+=(--oversubscribe)
"$kftc" run digits.kft "${options[@]}" >out 2>&1 || { cat out; exit 1; }
cat out
python3 - run <<'EOF'
import json
import struct
import sys
from pathlib import Path

run = Path(sys.argv[1])
rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
scores = [row["accuracy"] for row in rows if row["event"] == "eval" and row.get("part") != "train"]
assert scores, f"no accuracy of the test rows in {rows[-1]}"
print(f"accuracy of the unseen digits: {scores[-1]:.4f}")
assert scores[-1] >= 0.96, scores

plan = json.loads((run / "plan.json").read_text())
assert plan["ranks"] == 2 and plan["parameters"] == 64 * 128 + 128 + 128 * 10 + 10, plan["parameters"]
model = (run / "export/model.safetensors").read_bytes()
(length,) = struct.unpack("<Q", model[:8])
header = json.loads(model[8 : 8 + length])
sizes = [entry["shape"] for name, entry in header.items() if name != "__metadata__"]
assert sorted(map(len, sizes)) == [1, 1, 2, 2], header
EOF
