#!/usr/bin/env bash
# Fetches sources of Debian packages into DIR, each as DIR/PACKAGE_VERSION.orig.tar.gz or .xz. The
# machine's own list of packages stays as it is.
#
#   repair/paths/source.sh DIR PACKAGE...
set -euo pipefail

dir=$(mkdir -p "${1:?usage: source.sh DIR PACKAGE...}" && cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main" >"$work/sources.list"
options=(
	-q
	-o Dir::Etc::sourcelist="$work/sources.list"
	-o Dir::Etc::sourceparts=-
	-o Dir::State::lists="$work/lists"
	-o Dir::Cache="$work/cache"
	-o APT::Sandbox::User=root
)
apt-get "${options[@]}" update >/dev/null
cd "$dir"
for package in "$@"; do
	apt-get "${options[@]}" source --download-only --tar-only "$package" >/dev/null
done
