#!/usr/bin/env bash
# Migrates a guarded domain between two hosts that share its image: hosts in namespaces, joined by a
# network. fsward on the destination refuses, and the guest goes on at the source. Then the guest is
# shut down and started at the destination. It prints what it does and sees: docs/results/attach.md.
# It needs root and 2 GiB in build/.
#
# usage: scripts/migrate.sh [SUITE]   of Debian: bookworm (the default) or trixie
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/host.sh
. scripts/host.sh
make_system "${1:-bookworm}"
rounds=60
image=/srv/shared/vm.img
start_host a 00000000-0000-4000-8000-00000000000a
start_host b 00000000-0000-4000-8000-00000000000b
ip link add eth0 netns "${init[a]}" type veth peer name eth0 netns "${init[b]}"
for host in a:1 b:2; do
	nsenter --target "${init[${host%:*}]}" --net ip address add "10.23.0.${host#*:}/24" dev eth0
	nsenter --target "${init[${host%:*}]}" --net ip link set eth0 up
	on "${host%:*}" sh -c 'printf "10.23.0.1 a\n10.23.0.2 b\n" >>/etc/hosts'
done
for host in a b; do
	show $host hostname
	show $host virsh capabilities | sed -n 's/^ *\(<uuid>.*\)/\1/p'
done
show a virsh -c qemu+tcp://b/system hostname

on a qemu-img create -q -f raw $image 512M
define a "<disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/>
	<source file='$image'/><target dev='vda' bus='virtio'/><serial>ext3</serial></disk>" \
	"fsward.btrfs=none fsward.ext3=ext3 fsward.rounds=$rounds"
on a virsh dumpxml --inactive vm >"$work/before.xml"
show a fsward attach vm | tee "$work/attached"
mapfile -t commands < <(grep '^fsward ' "$work/attached")

# serve_all HOST: starts what attach has printed: the guard, and the proxy if there is one.
serve_all() {
	local words
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		serve "$1" "${words[1]}" "${words[@]}"
	done
}

# end_all HOST: ends both, the proxy first. No commit may have been refused.
end_all() {
	for ((i = ${#commands[@]} - 1; i >= 0; i--)); do
		read -ra words <<<"${commands[i]}"
		end "$1" "${words[1]}" TERM
		[ "$status" = 0 ] || fail "exit status of the ${words[1]} on $1: $status"
	done
}

# console HOST: what the guest has printed there.
console() { cat "$work/$1/upper/var/log/libvirt/qemu/vm-console.log" 2>/dev/null; }
synced() { console a | grep -ao 'FSWARD: synced ext3 [0-9]*' | tail -n 1 | grep -o '[0-9]*$' || echo 0; }
has_synced() { [ "$(synced)" -ge "$1" ]; }
says() { console "$1" | grep "FSWARD: $2" >/dev/null; }
off() { [ "$(on "$1" virsh domstate vm | head -n 1)" = 'shut off' ]; }

serve_all a
show a virsh start vm
await 300 has_synced 2 || fail "the guest does not work: $(console a | tail -n 5)"
echo "the guest has synced $(synced) rounds"

# The destination.
read -ra guard <<<"${commands[0]}"
status=0
show b "${guard[@]}" 2>"$work/refused" || status=$?
cat "$work/refused"
[ $status = 3 ] || fail "fsward on b: exit status $status"
grep -q "$image is in use by .*; a disk served twice" "$work/refused" || fail "fsward on b: no reason"
for options in '--live' '--live --p2p'; do
	# shellcheck disable=SC2086 # several words
	! show a timeout 120 virsh migrate $options vm qemu+tcp://b/system tcp://10.23.0.2 2>"$work/refused" ||
		fail "a guarded domain has been migrated"
	cat "$work/refused"
	show a virsh domstate vm | tee "$work/state"
	grep -q running "$work/state" || fail "the domain does not run at the source"
	show b virsh list --all --name
	at=$(synced)
	await 120 has_synced $((at + 2)) || fail "the guest does not go on"
	echo "the guest has synced $at rounds, and then $(synced)"
done

# What the guide says to do instead.
await 900 says a 'end 0' || fail "the guest: $(console a | tail -n 5)"
await 60 off a || fail "the domain does not end"
! console a | grep -aE 'I/O error|FSWARD: (readonly|failed|error)' || fail "the guest has seen an error"
end_all a
echo "a: $(grep ' holds$' "$work/a/guard.out" | grep -vc ' baseline ') commits hold, $(grep -cE 'violated|undecided' \
	"$work/a/guard.out" || true) do not"
serve_all b
on a virsh dumpxml --inactive vm |
	sed "s/fsward.rounds=$rounds/fsward.script=verify fsward.ext3_synced=$rounds/" |
	on b sh -c 'cat >/root/vm.xml'
show b virsh define /root/vm.xml
show b virsh start vm
await 300 says b 'end 0' || fail "the guest at the destination: $(console b | tail -n 5)"
console b | grep -ao 'FSWARD: .*'
says b "intact ext3 $rounds" || fail "rounds are lost"
await 60 off b || fail "the domain does not end"
end_all b
show a fsward detach vm
on a virsh dumpxml --inactive vm | cmp - "$work/before.xml" || fail "the definition has changed"
e2fsck -fn "$work/shared/vm.img" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
echo "e2fsck finds nothing; the definition on a is what it was, byte for byte"
echo passed
