#!/usr/bin/env bash
# Packs the extension with vsce and looks whether everything that package.json names is in it.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -x node_modules/.bin/vsce ]] || { echo "skipped: run scripts/fetch-editor-tools first"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node_modules/.bin/vsce package --no-dependencies --allow-missing-repository -o "$out/kft.vsix" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }
python3 - "$out/kft.vsix" <<'EOF'
import json, sys, zipfile

package = zipfile.ZipFile(sys.argv[1])
names = set(package.namelist())
manifest = json.loads(package.read("extension/package.json"))
contributes = manifest["contributes"]
wanted = [g["path"] for g in contributes["grammars"]] + [s["path"] for s in contributes["snippets"]]
wanted += [language["configuration"] for language in contributes["languages"]]
missing = [path for path in wanted if "extension/" + path.removeprefix("./") not in names]
stray = [name for name in names if "node_modules" in name or "/test/" in name or name.endswith(".in.json")]
print("missing:", missing, "stray:", stray)
sys.exit(bool(missing or stray))
EOF
