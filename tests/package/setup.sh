#!/usr/bin/env bash
# scripts/setup on other systems: says what it would do, does nothing, ends with 3. Wrong options end with 2.
set -euo pipefail
cd "$(dirname "$0")/../.."
fake=$(mktemp)
trap 'rm -f "$fake"' EXIT
fail() { echo "FAILED $1"; exit 1; }

printf 'ID=fedora\nPRETTY_NAME="Fedora Linux 40"\n' >"$fake"
status=0
out=$(KFT_OS_RELEASE=$fake scripts/setup 2>&1) || status=$?
((status == 3)) || fail "on Fedora: $status instead of 3"
grep -q 'Fedora Linux 40' <<<"$out" || fail "does not name the system"
grep -q 'apt-get install .*antlr4.*libopenmpi-dev' <<<"$out" || fail "does not say what it would do"

printf 'ID=linuxmint\nID_LIKE="ubuntu debian"\n' >"$fake"
status=0
out=$(KFT_OS_RELEASE=$fake scripts/setup --check 2>&1) || status=$?
((status <= 1)) || fail "a relative of Debian is refused: $out"

status=0
scripts/setup --wrong >/dev/null 2>&1 || status=$?
((status == 2)) || fail "an unknown option ends with $status"
for script in scripts/setup scripts/demo scripts/build scripts/test scripts/generate scripts/fetch-editor-tools .ci/run; do
  bash -n "$script" || fail "$script"
  [[ -x $script ]] || fail "$script cannot be started"
done
echo "1 passed, 0 failed"
