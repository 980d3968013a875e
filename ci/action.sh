#!/usr/bin/env bash
# What the GitHub action does: installs campc from the checkout that this file is part of, checks the campaigns, and on a pull
# request holds their plans against the base's. It writes every file before it fails, so that a later step can upload them.
#
# Reads INPUT_* (action.yml explains them), BASE_SHA and PULL_REQUEST (empty outside of a pull request), and what GitHub sets.
# CAMPC_PYTHON: a Python that has campc, which is used instead of installing.
# Exit status: 0; 1: faults, another style, or a plan that costs too much more; 2: it could not run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/campc.XXXXXX")

# No bash 4 is asked for: macOS has 3.2.
yes() { case $1 in [Tt][Rr][Uu][Ee] | [Yy][Ee][Ss] | 1) return 0 ;; *) return 1 ;; esac; }
output() { echo "$1=$2" >>"${GITHUB_OUTPUT:-/dev/null}"; }

# quietly COMMAND...: its output is shown, and no line of it is a command to GitHub's runner, whatever a spec says.
quietly() {
  local token status=0
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  "$@" 2>&1 || status=$?
  printf '\n::%s::\n' "$token"
  return "$status"
}

python=${CAMPC_PYTHON:-}
if [ -z "$python" ]; then
  python=${INPUT_PYTHON:-python3}
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "::error::campc needs Python 3.11 or newer: let actions/setup-python run before it, or name one with the input python"
    exit 2
  fi
  "$python" -m venv "$work/venv"
  python=$work/venv/bin/python
  quietly "$python" -m pip install --quiet --disable-pip-version-check "$here/.."
fi
campc() { "$python" -m campc "$@"; }

paths=()
while IFS= read -r path; do
  path="${path#"${path%%[![:space:]]*}"}" path="${path%"${path##*[![:space:]]}"}"
  [ -z "$path" ] || paths+=("$path")
done <<<"${INPUT_PATHS:-.}"
[ ${#paths[@]} -gt 0 ] || paths=(.)
strict=()
if yes "${INPUT_STRICT:-}"; then strict=(--strict); fi

result=0
# worse STATUS: the result is the worst of all.
worse() { [ "$1" -le "$result" ] || result=$1; }

status=0
if [ "${INPUT_FORMAT:-github}" = github ]; then
  # Its lines are commands, which escape what a spec says.
  campc check --format github ${strict[@]+"${strict[@]}"} -- "${paths[@]}" || status=$?
else
  quietly campc check --format "$INPUT_FORMAT" ${strict[@]+"${strict[@]}"} -- "${paths[@]}" || status=$?
fi
worse "$status"
output faults "$([ "$status" = 0 ] && echo false || echo true)"

for format in sarif junit; do
  if [ "$format" = sarif ]; then file=${INPUT_SARIF:-}; else file=${INPUT_JUNIT:-}; fi
  [ -z "$file" ] || campc check --format "$format" ${strict[@]+"${strict[@]}"} -- "${paths[@]}" >"$file" || true
done

if yes "${INPUT_FMT:-}"; then
  status=0
  quietly campc fmt --check -- "${paths[@]}" || status=$?
  worse "$status"
fi

if yes "${INPUT_DIFF:-true}" && [ -n "${BASE_SHA:-}" ]; then
  limit=()
  [ -z "${INPUT_MAX_INCREASE:-}" ] || limit=(--max-increase "$INPUT_MAX_INCREASE")
  status=0
  quietly "$python" "$here/compare.py" --base "$BASE_SHA" --output "$work/diff.md" ${limit[@]+"${limit[@]}"} -- "${paths[@]}" || status=$?
  if [ "$status" = 3 ]; then
    echo "::error::a plan costs more than ${INPUT_MAX_INCREASE//[^0-9A-Z. ]/} more: see the job's summary"
    status=1
  fi
  worse "$status"
  if [ -s "$work/diff.md" ]; then
    output diff "$work/diff.md"
    cat "$work/diff.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  fi
  if yes "${INPUT_COMMENT:-}" && [ -n "${PULL_REQUEST:-}" ] && [ -f "$work/diff.md" ]; then
    TOKEN=${INPUT_TOKEN:-} "$python" "$here/comment.py" "$PULL_REQUEST" "$work/diff.md" || worse $?
  fi
fi
exit "$result"
