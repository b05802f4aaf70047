#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the path of a usable Python on stdout; when the machine lacks something, the first line names the package.
#
# Plain sh on purpose: it runs before there is any Python to rely on. PYTHON and CC choose; otherwise the first
# complete candidate wins, because a machine often has one Python with headers and another without.
set -u

missing() { # what, Debian package, Fedora package, macOS way
  echo "missing: $1; install $2 (Debian, Ubuntu), $3 (Fedora) or $4 (macOS), then run make again." >&2
  exit 1
}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }
has_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }
has_headers() {
  "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' >/dev/null 2>&1
}

compiles() { # CC may carry flags, so it is split on purpose; linking shows that the C library's headers are there
  folder=$(mktemp -d) || return 1
  echo '#include <stdio.h>
int main(void) { return puts("") < 0; }' >"$folder/probe.c"
  # shellcheck disable=SC2086
  $1 -o "$folder/probe" "$folder/probe.c" >/dev/null 2>&1
  result=$?
  rm -rf "$folder"
  return $result
}

find_compiler() {
  for candidate in ${CC:+"$CC"} cc gcc clang; do
    if compiles "$candidate"; then
      return 0
    fi
    [ -z "${CC:-}" ] || missing "a working C compiler (CC=$CC does not compile)" \
      "gcc and libc6-dev" "gcc and glibc-devel" "the tools of xcode-select --install"
  done
  missing "a C compiler" "gcc and libc6-dev" "gcc and glibc-devel" "the tools of xcode-select --install"
}

find_python() {
  recent=""
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    if new_enough "$candidate"; then
      [ -n "$recent" ] || recent=$candidate
      if has_venv "$candidate" && has_headers "$candidate"; then
        "$candidate" -c 'import sys; print(sys.executable)'
        return 0
      fi
    fi
    [ -z "${PYTHON:-}" ] || break
  done
  explain_python "$recent"
}

explain_python() { # the newest candidate, or nothing
  if [ -z "$1" ]; then
    missing "Python 3.10 or later${PYTHON:+ (PYTHON=$PYTHON is not)}" \
      "python3, python3-venv and python3-dev" "python3 and python3-devel" "python from Homebrew"
  fi
  name=$("$1" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  has_venv "$1" || missing "venv and ensurepip of $1" "$name-venv" "python3-libs" "python from Homebrew"
  missing "the C headers of $1 (Python.h)" "$name-dev" "python3-devel" "python from Homebrew"
}

find_compiler
find_python
