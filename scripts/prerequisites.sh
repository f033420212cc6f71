#!/bin/sh
# Usage: prerequisites.sh PYTHON VENV [R | r-package | chromium]
# Check for programs that pip cannot install: Python 3.11 or later with the module venv, or
# an existing virtual environment. With R: also R and its packages caret, brglm2, glmnet,
# gmp, Rmpfr and multcomp. With r-package: R and the programs that check the R package
# (broom, car, knitr, rmarkdown, qpdf). With chromium: the browser Chromium (for another
# browser, CHROMIUM=/path/to/chromium).
# Missing programs are installed as root, or by sudo if it needs no password. Otherwise the
# script prints the commands to install them.
set -eu
python=$1
venv=$2
wants=${3:-}

stop() {
    printf '\npegasos_stats: %s\n\n' "$*" >&2
    exit 1
}

has_venv() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null || "$venv/bin/pip" --version >/dev/null 2>&1
}
case $wants in
R) r_packages="caret brglm2 glmnet gmp Rmpfr multcomp" ;;
r-package) r_packages="broom car knitr rmarkdown" ;;
*) r_packages= ;;
esac
has_r() { [ -z "$r_packages" ] || command -v Rscript >/dev/null; }
has_qpdf() { [ "$wants" != r-package ] || command -v qpdf >/dev/null; }
has_chromium() { [ "$wants" != chromium ] || command -v "${CHROMIUM:-chromium}" >/dev/null; }
has_package() {
    Rscript --vanilla -e "quit(status = !nzchar(system.file(package = '$1')))" >/dev/null 2>&1
}

command -v "$python" >/dev/null ||
    stop "'$python' was not found; install Python 3.11 or later, or run make PYTHON=/path/to/python ..."
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "'$python' is Python $version, but 3.11 or later is required; run make PYTHON=/path/to/python ..."

packages=
names=
if ! has_venv; then
    packages=" python$version-venv"
    names="Python's venv module"
fi
if ! has_r; then
    packages="$packages r-base-core"
    names="${names:+$names and }R"
fi
for package in $r_packages; do
    if ! has_package "$package"; then
        packages="$packages r-cran-$(echo "$package" | tr "[:upper:]" "[:lower:]")"
        names="${names:+$names and }R's package $package"
    fi
done
if ! has_qpdf; then
    packages="$packages qpdf"
    names="${names:+$names and }qpdf"
fi
if ! has_chromium; then
    packages="$packages chromium"
    names="${names:+$names and }the browser Chromium"
fi
[ -n "$packages" ] || exit 0

install="apt-get install -y --no-install-recommends$packages"
command -v apt-get >/dev/null ||
    stop "$names must be installed (Debian packages:$packages). Then run make again."
as_root=
if [ "$(id -u)" != 0 ]; then
    as_root="sudo -n"
    sudo -n true 2>/dev/null ||
        stop "$names must be installed by root. Run this as root, then run make again:

    apt-get update && $install"
fi

echo "Installing$packages"
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$apt update >"$log" 2>&1 || { sleep 10 && $apt update >"$log" 2>&1; } || cat "$log" >&2
# shellcheck disable=SC2086 # a list of packages
$apt install -y --no-install-recommends $packages </dev/null >"$log" 2>&1 || {
    cat "$log" >&2
    stop "'$install' failed; see the messages above."
}
for package in $r_packages; do
    has_package "$package" || r_missing=$package
done
{ has_venv && has_r && [ -z "${r_missing:-}" ] && has_qpdf && has_chromium; } ||
    stop "$names for '$python' not found after installing$packages."
