#!/usr/bin/env bash
# Every example: no diagnostic from `check`, laid out as `fmt` would, compiles to the objects named below, twice to the same
# bytes; tests in the file pass.   test.sh KFTC
set -uo pipefail
kftc=$(realpath "$1")
cd "$(dirname "$0")"
passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() {
  failed=$((failed + 1))
  printf 'FAILED %s\n' "$1"
  [[ -z ${2:-} ]] || sed 's/^/    /' <<<"$2"
}

# want NAME FILE OBJECTS [ARGS...]: the kinds and names, in order, that `compile` writes.
want() {
  local file=$1 objects=$2 first second found
  shift 2
  if ! first=$("$kftc" compile "$file" "$@" 2>/dev/null); then
    bad "compile $file $*" "$("$kftc" compile "$file" "$@" 2>&1 >/dev/null)"
    return
  fi
  second=$("$kftc" compile "$file" "$@" 2>/dev/null)
  if [[ $first == "$second" ]]; then good; else bad "$file: two runs differ"; fi
  found=$(awk '/^kind: / {kind = $2} /^metadata:/ {inside = 1} inside && /^  name: / {print kind "/" $2; inside = 0}' <<<"$first" | paste -sd' ')
  if [[ $found == "$objects" ]]; then good; else bad "compile $file $*: wrote '$found' instead of '$objects'"; fi
}
# contains FILE TEXT [ARGS...]: a line of the output, blanks around it left out.
contains() {
  local file=$1 text=$2
  shift 2
  if "$kftc" compile "$file" "$@" 2>/dev/null | sed 's/^[ -]*//' | grep -qxF -- "$text"; then good
  else bad "compile $file $*: has no line '$text'"; fi
}

shopt -s globstar nullglob
for file in **/*.kft; do
  if out=$("$kftc" check "$file" 2>&1) && [[ -z $out ]]; then good; else bad "check $file" "$out"; fi
  if "$kftc" fmt --check "$file" >/dev/null 2>&1; then good
  else bad "$file is not laid out as fmt would" "$("$kftc" fmt - <"$file" 2>&1 | diff "$file" - | head -n 20)"; fi
done

want digits/digits.kft "ClusterTrainingRuntime/kft-mpi TrainJob/digits"
contains digits/digits.kft "image: ghcr.io/example/kft-rank:0.4"
want torch-ddp/ddp.kft "TrainJob/cifar"
contains torch-ddp/ddp.kft "name: torch-distributed"
contains torch-ddp/ddp.kft "numNodes: 4"
contains torch-ddp/ddp.kft "numNodes: 1" --profile smoke
contains torch-ddp/ddp.kft "numNodes: 8" --set nodes=8
want jax/linear.kft "TrainJob/jax-linear"
contains jax/linear.kft "fieldPath: spec.nodeName"
want torchtune-lora/lora.kft "TrainJob/llama-lora"
contains torchtune-lora/lora.kft "storageUri: hf://tatsu-lab/alpaca"
contains torchtune-lora/lora.kft "name: hub"
want deepspeed-mpi/zero.kft "TrainJob/t5"
contains deepspeed-mpi/zero.kft "name: deepspeed-distributed"
want own-runtime/platform.kft "ClusterTrainingRuntime/torch-gang"
want own-runtime/tune.kft "ClusterTrainingRuntime/torch-gang TrainJob/tune"
contains own-runtime/platform.kft "schedulerName: volcano"
want team/train.kft "TrainJob/nightly-eval TrainJob/ranker-base TrainJob/ranker-big"
contains team/train.kft "kueue.x-k8s.io/queue-name: production" --set team.queue=production
if out=$("$kftc" test team/train.kft 2>&1); then good; else bad "test team/train.kft" "$out"; fi

for script in **/*.py; do
  if out=$(python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$script" 2>&1); then good; else bad "$script" "$out"; fi
done

echo "$passed passed, $failed failed"
((failed == 0))
