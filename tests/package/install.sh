#!/usr/bin/env bash
# Installs into an empty folder, uses what is there, builds another CMake project on it, and looks into the packages.
# install.sh BUILD-FOLDER CMAKE CPACK
set -euo pipefail
build=$1 cmake=$2 cpack=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED $1"; exit 1; }

"$cmake" --install "$build" --prefix "$folder/usr" >"$folder/log" || { cat "$folder/log"; fail "cmake --install"; }
for path in bin/kftc bin/kft-rank share/kft/stdlib share/kft/editors/vim/syntax/kft.vim share/kft/editors/vscode/package.json; do
  [[ -e $folder/usr/$path ]] || fail "$path is not installed"
done
config=$(find "$folder/usr" -name kftConfig.cmake)
[[ -n $config ]] || fail "kftConfig.cmake is not installed"
[[ -n $(find "$folder/usr/share/kft/stdlib" -name '*.kft') ]] || fail "the standard library is empty"
if grep -rIl --exclude-dir=doc -- "$root" "$folder/usr/share" "$folder/usr/lib" 2>/dev/null | grep -q .; then fail "an installed file names the source folder"; fi

# The program needs nothing of the tree: run it where neither is.
cp -r "$root/examples/team" "$folder/team"
(cd "$folder/team" && env -i PATH=/usr/bin:/bin "$folder/usr/bin/kftc" check train.kft) || fail "the installed kftc"

mkdir "$folder/other"
cp "$root/examples/jax/linear.kft" "$folder/other"
cat >"$folder/other/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(other LANGUAGES NONE)
find_package(kft 0.4 REQUIRED)
kft_compile(manifests INPUT linear.kft OUTPUT manifests ARGS --set nodes=4)
EOF
{ "$cmake" -S "$folder/other" -B "$folder/other/build" -DCMAKE_PREFIX_PATH="$folder/usr" && "$cmake" --build "$folder/other/build"; } \
  >"$folder/log" 2>&1 || { cat "$folder/log"; fail "another project"; }
grep -q 'numNodes: 4' "$folder"/other/build/manifests/* || fail "kft_compile wrote no manifest"

"$cpack" --config "$build/CPackConfig.cmake" -B "$folder/packages" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "cpack"; }
tar -tzf "$folder"/packages/*.tar.gz >"$folder/names"
grep -q 'bin/kftc$' "$folder/names" || fail "the archive has no kftc"
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --field "$folder"/packages/*.deb Depends | grep -q openmpi-bin || fail "the package does not depend on MPI"
  dpkg-deb --contents "$folder"/packages/*.deb >"$folder/names"
  grep -q 'usr/bin/kft-rank$' "$folder/names" || fail "the package has no kft-rank"
fi
echo "1 passed, 0 failed"
