#!/usr/bin/env bash
# Makes .venv from a bare Debian or Ubuntu with Python >= 3.11: the pinned requirements, campc itself as an editable
# install, and Pango, which WeasyPrint needs to set the PDFs. As root it brings Debian packages that are missing;
# otherwise it says the one line to type. Called by `make`; running it twice does nothing new.
#
# usage: tools/setup.sh run|dev      run: what compiles, runs and closes out a campaign; dev: what the tests need, too
set -euo pipefail
cd "$(dirname "$0")/.."

WHAT=${1:-dev}
PANGO=(libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core)

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

# bring NAME...: install Debian packages, or end with the line that would.
bring() {
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    say "Installing $* (Debian packages)"
    apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  elif command -v apt-get >/dev/null; then
    say "Missing: $*. Type this, then make again:"
    say "  sudo apt-get install -y $*"
    exit 1
  else
    say "Missing: $* (Debian's names). Install your system's packages of these, then make again."
    exit 1
  fi
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

python=$(find_python) || { bring python3 python3-venv; python=$(find_python) || { say "campc needs Python 3.11 or newer."; exit 1; }; }
"$python" -c 'import ensurepip, venv' 2>/dev/null || bring python3-venv

[ -x .venv/bin/python ] || { say "Making .venv"; "$python" -m venv .venv; }
say "Installing the pinned requirements into .venv (PyTorch is the large one)"
# shellcheck disable=SC2086
.venv/bin/python -m pip install --quiet --disable-pip-version-check ${PIP_FLAGS:-} -r "requirements/$WHAT.txt"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

.venv/bin/python -c 'import weasyprint' >/dev/null 2>&1 || bring "${PANGO[@]}"
.venv/bin/python -c 'import weasyprint' >/dev/null || { say "WeasyPrint does not load: see above."; exit 1; }

# What only some tests need: without it they skip, and say why. CI brings it.
if [ "$WHAT" = dev ] && [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ]; then
  PATH="$PATH:/usr/sbin" command -v slurmctld >/dev/null || (bring slurm-wlm munge) || say "No Slurm: its tests will skip."
  PATH="$PATH:/usr/sbin" command -v mkfs.btrfs >/dev/null || (bring btrfs-progs) || say "No btrfs: the test of a quota will skip."
  command -v shellcheck >/dev/null || (bring shellcheck) || say "No shellcheck: its test will skip."
  command -v chromium >/dev/null || (bring chromium) || say "No Chromium: the tests in a browser will skip."
  command -v nvim >/dev/null || (bring neovim) || say "No Neovim: its test will skip."
  [ -d /usr/share/vim-ale ] || (bring vim vim-ale) || say "No Vim with ALE: its test will skip."
  command -v emacs >/dev/null || (bring emacs-nox elpa-eglot) || say "No Emacs with eglot: its test will skip."
  if command -v npm >/dev/null; then
    npm ci --prefix tests/reports --ignore-scripts --no-audit --no-fund --silent || say "No axe, no validator: their tests will skip."
    npm ci --prefix editors/vscode --ignore-scripts --no-audit --no-fund --silent || say "No tools for the extension: its tests will skip."
    # Visual Studio Code itself is 800 MB: who has it by `make workbench` has the tests in it, too.
  fi
fi
