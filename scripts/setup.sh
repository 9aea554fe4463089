#!/usr/bin/env bash
# Installs what fsward needs on Debian 12: packages, Go if it is missing or too old, and Go modules.
# It prints what it installs, and is fast if everything is installed. Arguments are further packages,
# which only the target that names them needs.
set -euo pipefail
cd "$(dirname "$0")/.."

want_go=1.26
toolchain=go1.26.8

packages=(
	# to build: the compiler for cgo and libvirt's headers
	gcc libc6-dev pkg-config libvirt-dev git ca-certificates
	# to run guests
	libvirt-daemon libvirt-daemon-system libvirt-daemon-driver-qemu libvirt-clients
	qemu-system-x86 qemu-system-common qemu-utils seabios busybox-static cpio zstd xz-utils kmod procps
	# to make and boot a disk as Debian's installer lays one out
	ovmf grub-common grub-efi-amd64-bin dosfstools mtools gdisk lvm2
	# to build kernel modules; guest/build.sh fetches the headers of the guest's kernel
	gcc-12 make libelf1
	# file systems in tests, and the peers that check them
	btrfs-progs e2fsprogs libext2fs-dev attr acl quota fuse3 mount libnbd-bin nbdkit fio
	swi-prolog-nox stress-ng user-mode-linux
	# partition tables and LVM in tests
	fdisk gdisk parted lvm2
	# another file system that the model is compared with
	xfsprogs
	# repair programs, the programs that make their images, and debuggers
	exfatprogs f2fs-tools reiserfsprogs jfsutils ntfs-3g ocfs2-tools gfs2-utils
)

packages+=("$@")

say() { printf 'setup: %s\n' "$*"; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs packages without questions and without output.
install_packages() {
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -q --no-install-recommends "$@" >/dev/null
}

missing=()
for p in "${packages[@]}"; do
	dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
	say "installing Debian packages: ${missing[*]}"
	as_root apt-get update -q >/dev/null
	install_packages "${missing[@]}"
fi

go_is_new_enough() {
	command -v go >/dev/null || return 1
	local have
	have=$(GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//; s/[^0-9.].*//')
	[ "$(printf '%s\n' "$want_go" "$have" | sort -V | head -n 1)" = "$want_go" ]
}

export PATH="$PWD/build/_go/bin:$PATH"
if ! go_is_new_enough; then
	# Debian's Go is too old to build fsward. It can fetch and verify a newer Go as a module.
	say "installing Go $toolchain into build/_go"
	command -v go >/dev/null || install_packages golang-go
	fetch=$(mktemp -d)
	module="golang.org/toolchain@v0.0.1-$toolchain.linux-$(dpkg --print-architecture)"
	if ! (cd "$fetch" && go mod init fetch >/dev/null 2>&1 &&
		GOFLAGS=-mod=mod GOTOOLCHAIN=local go mod download -json "$module" >module.json); then
		say "cannot fetch $module: $(sed -n 's/^\t"Error": //p' "$fetch/module.json")"
		exit 1
	fi
	dir=$(sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' "$fetch/module.json")
	rm -rf build/_go && mkdir -p build && cp -r "$dir" build/_go && chmod -R u+w build/_go
	chmod +x build/_go/bin/* build/_go/pkg/tool/*/*
	rm -rf "$fetch"
fi

# Some tests need features that Debian 12's btrfs-progs lack. They use newer programs from the
# backports, which are unpacked and not installed, so that all other tests use Debian's own. Without
# the newer programs these tests fail with a message that names them.
newer=$PWD/build/btrfs-progs
unpack_newer() {
	local apt=build/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	local mirror=http://deb.debian.org/debian options
	mkdir -p $apt/state/lists/partial $apt/cache/archives/partial
	echo "deb [signed-by=$keyring] $mirror bookworm-backports main" >$apt/sources.list
	options=(
		-q
		-o Dir::Etc::sourcelist="$PWD/$apt/sources.list"
		-o Dir::Etc::sourceparts=-
		-o Dir::State="$PWD/$apt/state"
		-o Dir::Cache="$PWD/$apt/cache"
		-o Dir::State::status=/var/lib/dpkg/status
		-o APT::Sandbox::User=root
		-o Acquire::http::Timeout=20
		-o Acquire::Retries=1
	)
	apt-get "${options[@]}" update >/dev/null 2>&1 &&
		(cd $apt && apt-get "${options[@]}" download btrfs-progs/bookworm-backports >/dev/null 2>&1) &&
		dpkg-deb -x $apt/btrfs-progs_*.deb "$newer.new" && mv "$newer.new" "$newer"
	rm -rf $apt
	[ -x "$newer/sbin/mkfs.btrfs" ]
}
if [ ! -x "$newer/sbin/mkfs.btrfs" ]; then
	say "unpacking newer btrfs-progs into build/btrfs-progs"
	unpack_newer || say "no newer btrfs-progs: tests that need them will fail"
fi

go mod download
