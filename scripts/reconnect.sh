#!/usr/bin/env bash
# Shows that <reconnect> of libvirt 9.1 and later lets a guest wait for its guard: fsward attach puts
# a guard before a Btrfs and an ext3, and the guard is killed and started again under load. It prints
# what it does and sees: docs/results/attach.md. It needs root and 2 GiB in build/.
#
# usage: scripts/reconnect.sh [KILLS]   default 10
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/host.sh
. scripts/host.sh
kills=${1:-10}
rounds=$((10 + 3 * kills))
make_system trixie
start_host a 00000000-0000-4000-8000-00000000000a
on a virsh version | sed 's/^/  /'

images=/var/lib/libvirt/images
on a qemu-img create -q -f raw $images/btrfs.img 1G
on a qemu-img create -q -f qcow2 $images/ext3.qcow2 1G
define a "<disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/>
	<source file='$images/btrfs.img'/><target dev='vda' bus='virtio'/><serial>btrfs</serial></disk>
	<disk type='file' device='disk'><driver name='qemu' type='qcow2' cache='none'/>
	<source file='$images/ext3.qcow2'/><target dev='vdb' bus='virtio'/><serial>ext3</serial></disk>" \
	"fsward.btrfs=btrfs fsward.ext3=ext3 fsward.rounds=$rounds"
on a virsh dumpxml --inactive vm >"$work/before.xml"
show a fsward attach vm | tee "$work/attached"
show a virsh dumpxml --inactive vm | sed -n "/<disk /,/<\/disk>/p"
[ "$(on a virsh dumpxml --inactive vm | grep -c "<reconnect delay='300'/>")" = 2 ] ||
	fail "libvirt has dropped the element reconnect"
[ "$(grep -c '^fsward ' "$work/attached")" = 1 ] || fail "attach wants a proxy"
read -ra command < <(grep '^fsward ' "$work/attached")

console=$work/a/upper/var/log/libvirt/qemu/vm-console.log
said() { grep -q "FSWARD: $1" "$console" 2>/dev/null; }
# commits: the number of commits that the guard has judged; all of them have held.
commits() { grep ' holds$' "$work/a/guard.out" | grep -vc ' baseline ' || true; }
judged() { [ "$(commits)" -gt "$1" ]; }
off() { [ "$(on a virsh domstate vm | head -n 1)" = 'shut off' ]; }

serve a guard "${command[@]}"
show a virsh start vm
on a ps -o user,comm -C qemu-system-x86
await 300 said 'ready btrfs ext3' || fail "the guest does not get ready"
pauses=()
for ((i = 0; i < kills; i++)); do
	# A commit after the start, and then a random moment.
	await 120 judged "$(commits)" || fail "the guest is stuck"
	sleep "$((RANDOM % 3)).$((RANDOM % 10))"
	! said 'end' || fail "the guest has ended after $i kills"
	began=${EPOCHREALTIME/./}
	end a guard KILL
	before=$(commits)
	serve a guard "${command[@]}"
	await 120 judged "$before" || fail "the guest does not go on"
	pauses+=("$(((${EPOCHREALTIME/./} - began) / 100000))")
done
await 900 said 'end 0' || fail "the guest: $(tail -n 5 "$console")"
await 60 off || fail "the domain does not end"
end a guard TERM
[ $status = 0 ] || fail "exit status of the guard: $status; $(cat "$work/a/guard.out")"
echo "seconds from each kill to the next commit: $(printf '%s\n' "${pauses[@]}" |
	sed 's/.$/.&/; s/^\./0./' | paste -sd ' ')"
echo "commits that held: $(commits), others: $(grep -cE 'violated|undecided' \
	"$work/a/guard.out" || true)"
! grep -aE 'I/O error|FSWARD: (readonly|failed|error)' "$console" || fail "the guest has seen an error"
show a fsward detach vm
on a virsh dumpxml --inactive vm | cmp - "$work/before.xml" || fail "the definition has changed"
echo "the definition is what it was, byte for byte"

# What was acknowledged: every round that the guest has synced, with its checksums.
cp --sparse=always "$work/a/upper$images/btrfs.img" "$work/btrfs"
qemu-img convert -O raw "$work/a/upper$images/ext3.qcow2" "$work/ext3"
btrfs check "$work/btrfs" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
e2fsck -fn "$work/ext3" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
mkdir "$work/mnt"
for fs in btrfs ext3; do
	last=$(grep -ao "FSWARD: synced $fs [0-9]*" "$console" | tail -n 1)
	last=${last##* }
	[ "$last" = $rounds ] || fail "$fs: $last rounds of $rounds"
	mount -t $fs -o loop,ro "$work/$fs" "$work/mnt"
	for ((i = last > 24 ? last - 23 : 1; i <= last; i++)); do
		(cd "$work/mnt" && md5sum --quiet -c "round-$i/SUMS") || fail "$fs: round $i is lost"
	done
	umount "$work/mnt"
	echo "$fs: $last rounds synced, the files of the last 24 intact, the checker finds nothing"
done
echo "passed: $kills kills"
