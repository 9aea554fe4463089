# Divides the blank disk $DISK as $LAYOUT says (gpt, mbr, lvm), and puts an ext3 and a Btrfs on two
# volumes under load. Meanwhile it makes, changes and removes other volumes. At the end it unmounts
# both, and checks them and the tables by their own tools. $LOAD is an fsload command without a
# directory; $DIR is an empty folder.
set -eu -o pipefail
MIB=1048576
loops=()
clean() {
	for m in a b; do mountpoint -q "$DIR/$m" && umount "$DIR/$m"; done
	for l in "${loops[@]}"; do losetup -d "$l"; done
}
trap clean EXIT

# volume puts a loop device over MiB $1 to $1+$2 of the disk, and names it in $loop.
volume() {
	loop=$(losetup -f --show --direct-io=on -o $(($1 * MIB)) --sizelimit $(($2 * MIB)) "$DISK")
	loops+=("$loop")
}

table() { sfdisk -q --no-reread --no-tell-kernel --force "$@"; }

# lvm runs a command of LVM on this disk alone, without the device mapper.
lvm() {
	local command=$1
	shift
	LVM_SYSTEM_DIR=$DIR/lvm LVM_SUPPRESS_FD_WARNINGS=1 command lvm "$command" --driverloaded n "$@" \
		>"$DIR/lvm.log" 2>&1 || {
		cat "$DIR/lvm.log" >&2
		return 1
	}
}

configure_lvm() {
	mkdir -p "$DIR/lvm/lock"
	cat >"$DIR/lvm/lvm.conf" <<-END
		devices { filter = [ "a|^$DISK\$|", "r|.*|" ]
		use_devicesfile = 0
		obtain_device_list_from_udev = 0
		multipath_component_detection = 0 }
		activation { udev_sync = 0
		udev_rules = 0
		monitoring = 0 }
		global { locking_dir = "$DIR/lvm/lock" }
		backup { backup = 0
		archive = 0 }
	END
}

# partitions makes, changes and removes a third and a fourth partition. Its start recurs, so that what
# a former partition held is there again.
partitions() {
	local start=1900 size=$((16 + RANDOM % 60))
	echo "start=${start}M, size=${size}M" | table -a "$DISK"
	volume $start $size
	case $((RANDOM % 4)) in
	0) mkswap -q "$loop" ;;
	1) mkfs.ext3 -q -F "$loop" ;;
	2) mkfs.vfat "$loop" >/dev/null ;;
	esac
	[ $((RANDOM % 2)) = 0 ] || wipefs -q -a "$loop"
	losetup -d "$loop"
	unset 'loops[-1]'
	if [ "$LAYOUT" = gpt ]; then
		table --part-label "$DISK" 3 "name $RANDOM"
	else
		table --part-type "$DISK" 3 82
	fi
	if [ $((RANDOM % 2)) = 0 ]; then
		echo "start=2040M, size=$((8 + RANDOM % 20))M" | table -a "$DISK"
		table --delete "$DISK" 4
	fi
	table --delete "$DISK" 3
}

# volumes makes, changes and removes a third logical volume.
volumes() {
	lvm lvcreate -an -Zn -Wn -q -n c -L $((16 + RANDOM % 60))M vg
	lvm lvextend -q -L +$((4 + RANDOM % 20))M vg/c
	lvm lvrename -q vg c d
	lvm vgchange -q --addtag "t$RANDOM" vg
	[ $((RANDOM % 2)) = 0 ] || lvm lvreduce -q -f -L -4M vg/d
	lvm lvremove -q -f vg/d
}

case $LAYOUT in
gpt | mbr)
	label=gpt
	[ "$LAYOUT" = gpt ] || label=dos
	printf 'label: %s\nstart=1M, size=600M\nstart=601M, size=1200M\n' $label | table "$DISK"
	starts=(1 601)
	change=partitions
	;;
lvm)
	configure_lvm
	lvm pvcreate -q --dataalignment 1M "$DISK"
	lvm vgcreate -q vg "$DISK"
	lvm lvcreate -an -Zn -Wn -q -n a -L 600M vg
	lvm lvcreate -an -Zn -Wn -q -n b -L 1200M vg
	starts=(1 601)
	change=volumes
	;;
esac
volume "${starts[0]}" 600
a=$loop
volume "${starts[1]}" 1200
b=$loop
mkfs.ext3 -q -F "$a"
mkfs.btrfs -q "$b"
mkdir "$DIR/a" "$DIR/b"
mount -t ext3 -o noatime "$a" "$DIR/a"
mount -t btrfs -o noatime "$b" "$DIR/b"
$LOAD -dir "$DIR/a" &
one=$!
$LOAD -dir "$DIR/b" -btrfs &
two=$!
changes=0
while kill -0 $one 2>/dev/null || kill -0 $two 2>/dev/null; do
	$change
	sync "$DISK"
	changes=$((changes + 1))
	sleep 0.3
done
wait $one
wait $two
umount "$DIR/a" "$DIR/b"
e2fsck -fn "$a" >/dev/null
btrfs check "$b" >/dev/null 2>&1
case $LAYOUT in
gpt | mbr) sfdisk -q -V "$DISK" >/dev/null ;;
lvm) lvm vgck vg ;;
esac
echo "$changes"
