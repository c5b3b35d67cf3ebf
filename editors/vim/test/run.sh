#!/usr/bin/env bash
# Runs run.vim in a headless vim, and in neovim where there is one. 77 (ctest: skipped) without a vim that has `eval`.
set -euo pipefail
cd "$(dirname "$0")/../../.."
report=$(mktemp)
trap 'rm -f "$report"' EXIT
ran=no
status=0
for editor in vim nvim; do
  command -v "$editor" >/dev/null || continue
  if [[ $editor == vim ]] && ! vim --version | grep -q '+syntax'; then continue; fi
  ran=yes
  : >"$report"
  flags=(-es -u NONE -i NONE)
  [[ $editor == vim ]] && flags+=(-N)
  # `cquit` of `vim -es` ends with its own code; what counts is what the script wrote.
  KFT_VIM_REPORT=$report timeout 120 "$editor" "${flags[@]}" --cmd 'set rtp^=editors/vim' -S editors/vim/test/run.vim </dev/null || true
  echo "$editor:"
  cat "$report"
  grep -q ' passed, 0 failed$' "$report" || status=1
done
if [[ $ran == no ]]; then
  echo "skipped: no vim with syntax highlighting"
  exit 77
fi
exit $status
