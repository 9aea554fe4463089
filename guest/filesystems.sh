# The second archive of the explorer's guest: programs and modules of software RAID, and of the
# other file systems that Debian 12 can make and one of its kernels can mount. build.sh sources
# this script, which uses its functions.
#
# Debian 12 has no mkfs for HFS+ (hfsprogs), UFS, bcachefs, affs and omfs. Of its kernels only 6.12
# has ntfs3. The cloud kernels lack bfs, f2fs, gfs2, hfs, jfs, minix, nilfs2, ocfs2 and reiserfs.
# explore/component/fs says which file system needs which programs.

# packages.yaml has a line for each Debian package, with the programs of it that the guest gets.
# Packages without programs have libraries that a build machine may lack. The packages are unpacked,
# and not installed.
FS_PACKAGES=$(sed -n '/^machine:/d; s/^\([a-z0-9][a-z0-9.+-]*\):.*/\1/p' "$here/packages.yaml" |
	tr '\n' ' ')
FS_PROGRAMS=$(sed -n 's/^[a-z0-9][a-z0-9.+-]*: *\([^#]*\).*/\1/p' "$here/packages.yaml" | tr '\n' ' ')
# The kernel requests the module of a file system, and of the character sets of FAT and HFS, at
# mount. It requests the module of a RAID level when an array starts.
FS_MODULES='xfs vfat msdos exfat ntfs3 udf f2fs jfs reiserfs nilfs2 gfs2 ocfs2 hfs minix bfs
nls_cp437 nls_ascii nls_iso8859-1 nls_utf8 raid0 raid1 raid10 raid456'

# fs_fetch unpacks the packages into $out/programs, unless they are there.
fs_fetch() {
	[ "$FS_PACKAGES" != "$(cat "$out/programs/packages" 2>/dev/null)" ] || return 0
	rm -rf "$out/programs" "$out/programs.new"
	# shellcheck disable=SC2086  # a list
	fetch $FS_PACKAGES "$out/programs.new"
	echo "$FS_PACKAGES" >"$out/programs.new/packages"
	mv "$out/programs.new" "$out/programs"
}

# fs_paths prints the paths of the programs, in the packages or on this machine.
fs_paths() {
	tree=$out/programs
	path=$tree/sbin:$tree/usr/sbin:$tree/bin:$tree/usr/bin:$PATH
	for program in $FS_PROGRAMS; do
		PATH=$path command -v "$program" || die "no package has $program"
	done
}

# fs_libraries PROGRAM… does what libraries does, with the libraries of the packages.
fs_libraries() {
	(
		LD_LIBRARY_PATH=$out/programs/usr/lib/x86_64-linux-gnu
		LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$out/programs/lib/x86_64-linux-gnu
		export LD_LIBRARY_PATH
		# On its standard error, ldd says that e2fsck.static has no libraries.
		ldd "$@" 2>/dev/null | grep -F 'not found' >&2 &&
			die "a library is missing: add its package to guest/packages.yaml"
		libraries "$@" 2>/dev/null
	)
}

# fs_modules DIR copies the modules to a tree, without the files in $out/modules, which /init loads.
# They take memory of the guest. So they stay compressed; modprobe of busybox can read that.
fs_modules() {
	tree=$1/lib/modules/$release
	mkdir -p "$tree"
	for module in $FS_MODULES; do
		modprobe -d "$out/kernel" -S "$release" --show-depends "$module" 2>/dev/null |
			sed -n 's/^insmod \([^ ]*\).*$/\1/p'
	done | sort -u | grep -vxF -f "$out/modules" | while read -r module; do
		case $module in
		*.xz) cp "$module" "$tree/" ;;
		*) xz -c "$module" >"$tree/$(basename "$module").xz" ;;
		esac
	done
	from=$out/kernel/lib/modules/$release
	cp "$from"/modules.builtin* "$from/modules.order" "$tree/"
	depmod -b "$1" "$release"
	# Busybox reads only these two.
	find "$tree" -name 'modules.*' ! -name modules.dep ! -name modules.alias -delete
}

# fs_archive PROGRAM… makes $out/filesystems.cpio.zst.
fs_archive() {
	root=$out/root
	rm -rf "$root"
	# mdadm keeps its list of arrays below /run.
	mkdir -p "$root/bin" "$root/sbin" "$root/etc" "$root/run"
	cp -L "$@" "$root/bin/"
	# It replaces the e2fsck of the initramfs. Without libraries it starts in half of the time, and it
	# runs for each crash state of ext2.
	mv "$root/bin/e2fsck.static" "$root/bin/e2fsck"
	ln -s /proc/self/mounts "$root/etc/mtab"
	ln -s ../bin/busybox "$root/sbin/modprobe"
	for lib in $(fs_libraries "$@"); do
		# The loader finds libraries of packages and of this machine at the same paths.
		name=${lib#"$out/programs"}
		mkdir -p "$root$(dirname "$name")"
		cp -L "$lib" "$root$name"
	done
	fs_modules "$root"
	archive "$root" "$out/filesystems.cpio.zst"
	rm -rf "$root"
}
