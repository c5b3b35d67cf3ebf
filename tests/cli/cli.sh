#!/bin/bash
# cli.sh KFTC SOURCE_DIR: the command line as a user meets it: exit codes, files, pipes, and what stays untouched.
set -u
kftc=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# expect CODE COMMAND...: runs it, keeps its output in ./out and ./err.
expect() {
  local want=$1
  shift
  timeout 60 "$@" >out 2>err </dev/null
  local got=$?
  [[ $got -eq $want ]] || { fail "\`${*//$kftc/kftc}\` gave $got instead of $want"; cat err; }
}
says() { grep -qF -- "$1" err || { fail "standard error lacks: $1"; cat err; }; }
prints() { grep -qF -- "$1" out || { fail "standard output lacks: $1"; cat out; }; }

# --- help, version, wrong usage
expect 0 "$kftc" --version
grep -qE '^kftc [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version prints $(cat out)"
expect 0 "$kftc" --help
prints 'check'
for page in '' check compile fmt explain init test completion; do
  expect 0 "$kftc" $page --help
  [[ $(awk '{ if (length($0) > 80) n++ } END { print n + 0 }' out) -eq 0 ]] || fail "help of '$page' is wider than 80 columns"
done
expect 2 "$kftc"
says 'a command is missing'
expect 2 "$kftc" chekc x.kft
says 'did you mean `check`?'
expect 2 "$kftc" comple x.kft
says 'did you mean `compile`?'
expect 2 "$kftc" compile x.kft --formt json
says 'unknown option `--formt` of `kftc compile`'
says 'did you mean `--format`?'
expect 2 "$kftc" compile x.kft --format xml
expect 2 "$kftc" compile
says 'FILE is missing'
expect 2 "$kftc" compile x.kft --set nodes
says 'is not of the form name=value'
expect 2 "$kftc" --diagnostics json chekc
python3 -c 'import json, sys; [item] = json.load(open("err")); assert item["id"] == "KFT9004"' || fail 'usage as JSON'

# --- explain
expect 0 "$kftc" explain KFT9001
prints '# KFT9001: '
expect 0 "$kftc" explain
prints 'KFT9001'
expect 2 "$kftc" explain KFT1
says '[KFT9007]'

# --- completion scripts are good scripts
expect 0 "$kftc" completion bash
bash -n out || fail 'the bash completion has a syntax error'
prints '--emit'
(
  source ./out
  COMP_WORDS=(kftc comp) COMP_CWORD=1
  _kftc
  [[ ${COMPREPLY[*]} == 'compile completion' ]]
) || fail 'bash completes no commands'
(
  source ./out
  COMP_WORDS=(kftc compile --format '') COMP_CWORD=3
  _kftc
  [[ ${COMPREPLY[*]} == *yaml*json* || ${COMPREPLY[*]} == *json*yaml* ]]
) || fail 'bash completes no choices'
for shell in zsh fish; do
  expect 0 "$kftc" completion $shell
  prints 'compile'
  command -v $shell >/dev/null && { $shell -n out || fail "the $shell completion has a syntax error"; }
done
expect 2 "$kftc" completion csh

# --- closed and full standard output
timeout 10 "$kftc" explain 2>err | head -n 1 >/dev/null
[[ -s err ]] && fail "| head is not quiet: $(cat err)"
"$kftc" explain >&- 2>err && fail 'closed standard output is no mistake'
says 'KFT9002'
[[ -w /dev/full ]] && { "$kftc" explain >/dev/full 2>err && fail 'a full disk is no mistake'; says 'KFT9002'; }

# --- inputs that cannot be read
expect 1 "$kftc" check nowhere.kft
says 'cannot read `nowhere.kft`; No such file or directory [KFT9001]'
expect 1 "$kftc" check .
says 'it is a directory'
expect 1 "$kftc" check nowhere.kft also-nowhere.kft
says 'also-nowhere.kft'

# --- init
expect 0 "$kftc" init first.kft
[[ -s first.kft && -s first.csv ]] || fail 'init wrote no files'
cp first.kft before.kft
expect 1 "$kftc" init first.kft
says 'KFT9008'
cmp -s first.kft before.kft || fail 'init touched a file that was there'
expect 0 "$kftc" init --kind torch torch.kft
for file in first.kft torch.kft; do
  expect 0 "$kftc" check $file
  [[ -s err ]] && { fail "$file from init is not clean"; cat err; }
  expect 0 "$kftc" fmt --check $file
  expect 0 "$kftc" compile $file
  prints 'kind: TrainJob'
done
expect 1 "$kftc" init nowhere/first.kft
says 'KFT9002'

# --- compile: everything or nothing
expect 0 "$kftc" compile first.kft -o manifests
[[ -s manifests/trainjob-spiral.yaml ]] || fail "no trainjob-spiral.yaml: $(ls manifests)"
cat manifests/*.yaml >together
expect 0 "$kftc" compile first.kft --format json
python3 -c 'import json; objects = json.load(open("out")); assert any(o["kind"] == "TrainJob" for o in objects)' || fail 'JSON'
expect 0 "$kftc" compile first.kft --format json -o json
[[ -s json/trainjob-spiral.json ]] || fail "no trainjob-spiral.json: $(ls json)"
expect 0 "$kftc" compile first.kft --emit plan
python3 -c 'import json; json.load(open("out"))' || fail 'the plan is no JSON'
for stage in ast types ir; do
  expect 0 "$kftc" compile first.kft --emit $stage
  [[ -s out ]] || fail "--emit $stage prints nothing"
  expect 2 "$kftc" compile first.kft --emit $stage -o stage
done
[[ -e stage ]] && fail 'wrong usage made a directory'
sed 's/nodes = ranks/nodes = rnks/' first.kft >broken.kft
expect 1 "$kftc" compile broken.kft
[[ -s out ]] && fail 'compile wrote something in spite of an error'
says 'broken.kft:'
expect 1 "$kftc" compile broken.kft -o broken
[[ -e broken ]] && fail 'compile made a directory in spite of an error'
expect 1 "$kftc" compile first.kft --job sprial
says 'did you mean `spiral`?'
expect 0 "$kftc" compile first.kft --job spiral --emit trainjob
expect 1 "$kftc" compile first.kft --set rank=3
says 'did you mean `ranks`?'
expect 1 "$kftc" compile first.kft --set ranks=three
expect 1 "$kftc" compile first.kft --set ranks=1000
expect 0 "$kftc" compile first.kft --set ranks=3
prints 'numNodes: 3'
printf 'ranks: 5\n' >values.yaml
expect 0 "$kftc" compile first.kft --params values.yaml
prints 'numNodes: 5'
expect 0 "$kftc" compile first.kft --params values.yaml --set ranks=6
prints 'numNodes: 6'
expect 1 "$kftc" compile first.kft --profile nope
timeout 60 "$kftc" compile - <torch.kft >out 2>err || fail 'compile from standard input'
prints 'kind: TrainJob'

# --- outputs that cannot be written
touch file
expect 1 "$kftc" compile first.kft -o file
says 'KFT9002'
mkdir locked
chmod 555 locked
if ! touch locked/probe 2>/dev/null; then # root may write everywhere
  expect 1 "$kftc" compile first.kft -o locked
  says 'Permission denied'
  [[ -n $(ls locked) ]] && fail 'something was left in a folder that cannot be written'
fi
chmod 755 locked
mkdir onto
cp first.csv onto/first.csv
cp first.kft onto/trainjob-spiral.yaml
cp onto/trainjob-spiral.yaml before.kft
expect 1 "$kftc" compile onto/trainjob-spiral.yaml -o onto --emit trainjob
cmp -s onto/trainjob-spiral.yaml before.kft || fail 'compile wrote over its input'
says 'KFT9003'
[[ -n $(find . -name '*.yaml.??????' -o -name '*.kft.??????') ]] && fail 'temporary files were left'

# --- fmt
printf 'job   a{nodes=2}\n' >ugly.kft
chmod 640 ugly.kft
expect 3 "$kftc" fmt --check ugly.kft first.kft
[[ $(cat out) == ugly.kft ]] || fail "fmt --check names: $(cat out)"
expect 0 "$kftc" fmt ugly.kft first.kft
[[ $(cat ugly.kft) == 'job a { nodes = 2 }' ]] || fail "fmt wrote: $(cat ugly.kft)"
[[ $(stat -c %a ugly.kft) == 640 ]] || fail 'fmt changed the permissions'
expect 0 "$kftc" fmt --check ugly.kft
ln -s ugly.kft link.kft
printf 'job   a{nodes=3}\n' >ugly.kft
expect 0 "$kftc" fmt link.kft
[[ -L link.kft && $(cat ugly.kft) == 'job a { nodes = 3 }' ]] || fail 'fmt replaced a link'
printf 'job a { nodes = \n' >bad.kft
cp bad.kft before.kft
printf 'job   b{}\n' >ugly.kft
expect 1 "$kftc" fmt bad.kft ugly.kft
cmp -s bad.kft before.kft || fail 'fmt touched a file with mistakes'
[[ $(cat ugly.kft) == 'job b {}' ]] || fail 'fmt stopped at the first bad file'
printf 'job   a{nodes=2}' | timeout 10 "$kftc" fmt - >out 2>err || fail 'fmt from standard input'
[[ $(cat out) == 'job a { nodes = 2 }' ]] || fail "fmt - printed: $(cat out)"
printf 'job   a{nodes=2}' | timeout 10 "$kftc" fmt --check - >out 2>err
[[ $? -eq 3 ]] || fail 'fmt --check -'

# --- diagnostics for programs
expect 1 "$kftc" check broken.kft --diagnostics json
python3 - <<'PY' || fail 'JSON diagnostics'
import json
items = json.load(open("err"))
assert items and all(i["id"].startswith("KFT") and i["severity"] in ("error", "warning") for i in items)
assert items[0]["file"] == "broken.kft" and items[0]["line"] > 1 and items[0]["endColumn"] > items[0]["column"]
PY
expect 1 "$kftc" check broken.kft --diagnostics sarif
python3 -c 'import json; log = json.load(open("err")); assert log["version"] == "2.1.0" and log["runs"][0]["results"]' || fail 'SARIF'
expect 0 "$kftc" check first.kft torch.kft --diagnostics json
[[ $(cat err) == '[]' ]] || fail 'no diagnostics are an empty array'

# --- test
cat >tests.kft <<'KFT'
import std.runtimes
import std.trainers
param nodes: int = 2
trainer script extends trainers.command {
  image = "ghcr.io/example/train:1"
}
job train {
  trainer = trainer.script
  runtime = runtimes.torch
  nodes = nodes
}
test "default" {
  assert job.train.nodes == 2
}
test "three nodes" {
  set { nodes = 3 }
  assert job.train.nodes == 3
  assert manifests("TrainJob").train.spec.trainer.numNodes == 3
}
KFT
expect 0 "$kftc" test tests.kft
prints 'three nodes'
prints '2 passed, 0 failed'
expect 0 "$kftc" test tests.kft --filter default
prints '1 passed, 0 failed, 1 not selected'
sed 's/numNodes == 3/numNodes == 4/' tests.kft >failing.kft
expect 1 "$kftc" test failing.kft
prints 'FAILED  three nodes'
prints '1 passed, 1 failed'
says 'failing.kft:'

# --- one plan, whoever makes it; without the data it has no rows and is no mistake
cp -r "$source/examples/digits/digits.kft" "$source/examples/digits/data" .
expect 0 "$kftc" compile --emit plan digits.kft
cp out compiled.json
expect 0 "$kftc" plan --format json digits.kft
python3 -c 'import json
[planned], compiled = json.load(open("out")), json.load(open("compiled.json"))
assert planned["plan"] == compiled, "compile and plan differ"
assert compiled["data"]["rows"] > 0 and compiled["data"]["sha256"], compiled["data"]' || fail 'plan and compile --emit plan disagree'
sed -i '2s/,[^,]*$/,99/' data/digits.csv
expect 1 "$kftc" compile --emit plan digits.kft
says 'digits.kft:'
rm data/digits.csv
expect 0 "$kftc" compile --emit plan digits.kft
python3 -c 'import json
data = json.load(open("out"))["data"]
assert not data.get("rows") and not data.get("sha256"), data' || fail 'a plan without its data has rows'

[[ $failures -eq 0 ]] || { echo "$failures failures"; exit 1; }
echo 'all good'
