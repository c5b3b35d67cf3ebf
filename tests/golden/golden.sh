#!/bin/bash
# golden.sh KFTC INPUT.kft EXPECTED: what kftc says about INPUT must be EXPECTED, byte for byte. The ending of EXPECTED says
# what is compared:
#   .ast .types .ir .plan   compile --emit that stage        .yaml .json   compile, in that format
#   .fmt                    fmt, through standard input      .stderr       what check prints as mistakes
# A first line `# kftc: OPTIONS` in INPUT adds options; `# kftc: compile OPTIONS` in a .stderr case replaces check.
# KFT_UPDATE=1 accepts what is there now.
set -u
kftc=$(realpath "$1") input=$(realpath "$2") expected=$(realpath -m "$3")
cd "$(dirname "$input")" || exit 1
name=$(basename "$input") stage=${expected##*.}
out=$(mktemp) err=$(mktemp)
trap 'rm -f "$out" "$err"' EXIT
options=()
first=$(head -n 1 "$name")
[[ $first == '# kftc: '* ]] && eval "options=(${first#\# kftc: })"
command=(compile)
if [[ ${options[0]-} =~ ^(check|compile|test)$ ]]; then
  command=("${options[0]}")
  options=("${options[@]:1}")
elif [[ $stage == stderr ]]; then
  command=(check)
fi
case $stage in
  ast | types | ir | plan) command+=(--emit "$stage") ;;
  json) command+=(--format json) ;;
  yaml | stderr) ;;
  fmt) command=(fmt) options=() ;;
  *) echo "no stage makes .$stage"; exit 1 ;;
esac
if [[ $stage == fmt ]]; then
  timeout 60 "$kftc" fmt - <"$name" >"$out" 2>"$err"
else
  timeout 60 "$kftc" "${command[@]}" "${options[@]}" "$name" >"$out" 2>"$err"
fi
code=$?
if [[ $stage == stderr ]]; then
  got=$err
  want=0
  grep -q ': error: ' "$err" && want=1
else
  got=$out want=0
fi
if [[ $code -ne $want ]]; then
  echo "kftc ${command[*]} ${options[*]} $name: exit code $code instead of $want"
  cat "$err"
  exit 1
fi
# Where the sources lie must not matter.
sed -i "s#$PWD#<here>#g; s#\"tool\": \"kftc [0-9.]*\"#\"tool\": \"kftc <version>\"#" "$got"
if [[ -f $expected ]] && cmp -s "$expected" "$got"; then exit 0; fi
if [[ ${KFT_UPDATE-} == 1 ]]; then
  cp "$got" "$expected"
  chmod 644 "$expected"
  echo "updated $expected"
  exit 0
fi
if [[ ! -f $expected ]]; then
  echo "$expected is missing; KFT_UPDATE=1 writes it"
  exit 1
fi
diff -u --label "expected ${expected##*/}" --label "what kftc says" "$expected" "$got"
exit 1
