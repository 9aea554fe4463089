#!/usr/bin/env bash
# Follows docs/user/guarding.md, "Attach a libvirt domain", on a Debian host with AppArmor:
# scripts/apparmor.sh starts it there. It prints what it does and sees. The last line is "passed" or
# "failed: WHY".
#
# In this folder are fsward, domain.xml and the image disk.qcow2 of the domain vm.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
image=/var/lib/libvirt/images/vm.qcow2
console=/var/log/libvirt/qemu/vm-console.log

fail() {
	echo "failed: $*"
	exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# show COMMAND…: prints a command and runs it.
show() {
	echo "\$ $*"
	"$@"
}

# await SECONDS COMMAND…: waits until a command succeeds.
await() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.5
	done
}

# denials: what AppArmor has forbidden.
denials() { journalctl -k -o cat --no-pager | grep 'apparmor="DENIED"' || true; }

said() { grep -q "FSWARD: $1" "$console"; }

# begin N: starts the command number N that attach has printed, and waits for its socket.
begin() {
	local command socket
	command=$(grep '^fsward ' attached | sed -n "$1p")
	echo "\$ $command &"
	socket=${command##*--listen unix:}
	socket=${socket%% *}
	eval "$command >>said.$1 2>>log.$1 &"
	pids[$1]=$!
	await 120 test -S "$socket" || { cat "log.$1" && fail "no socket $socket"; }
}

cd "$here"
install -m 755 fsward /usr/local/bin/fsward
install -m 600 disk.qcow2 $image
pids=()
echo "Debian $(cat /etc/debian_version), kernel $(uname -r), libvirt $(libvirtd --version |
	sed 's/.* //'), $(qemu-system-x86_64 --version | sed -n '1s/ (.*//p')"
show cat /sys/module/apparmor/parameters/enabled
await 300 virsh version >/dev/null
show virsh define domain.xml
virsh dumpxml --inactive vm >before.xml
show fsward attach vm | tee attached
commands=$(grep -c '^fsward ' attached)
for ((i = 1; i <= commands; i++)); do begin $i; done
show ls -l /run/fsward

# The rule of AppArmor that attach names on some kernels.
sed -n 's/^#   echo/echo/p' attached >rule.sh
show sh -ex rule.sh
show virsh start vm
domain=$(pgrep -f 'guest=vm,')
show ps -o user,comm -p "$domain"
show cat "/proc/$domain/attr/current"
grep -q '^libvirt-.* (enforce)$' "/proc/$domain/attr/current" || fail "AppArmor does not confine QEMU"
[ "$(ps -o user:20= -p "$domain")" = libvirt-qemu ] || fail "QEMU is privileged"
echo '$ aa-status'
aa-status | sed -n '/profiles are in enforce mode/p; /processes are in enforce mode/,/^[0-9].*complain/p'
# AppArmor is in force: the profile of the guarded domain keeps QEMU from the image.
confined=$(sed 's/ (enforce)//' "/proc/$domain/attr/current")
[ "$(denials | wc -l)" = 0 ] || { denials && fail "AppArmor has forbidden something"; }
echo "\$ aa-exec -p $confined -- cat $image"
! aa-exec -p "$confined" -- cat $image >/dev/null 2>err || fail "AppArmor is not in force"
cat err
denials
[ "$(denials | wc -l)" = 1 ] || fail "AppArmor has not logged what it has forbidden"

# The guest works; the guard is killed and starts again meanwhile.
await 1200 said 'synced 2' || { tail "$console" && fail "the guest does not work"; }
show kill -KILL "${pids[1]}"
begin 1
await 1800 said 'end' || { tail "$console" && fail "the guest does not end"; }
grep -a -o 'FSWARD: .*' "$console"
await 120 sh -c 'virsh domstate vm | grep -q "shut off"'
for line in 'synced 6' refused 'end 0'; do said "$line" || fail "the guest does not say: $line"; done
for ((i = commands; i > 1; i--)); do
	kill -TERM "${pids[$i]}" && wait "${pids[$i]}"
done
kill -TERM "${pids[1]}"
status=0
wait "${pids[1]}" || status=$?
cat said.1
echo "exit status of the guard: $status"
[ $status = 1 ] || fail "want 1: a commit was refused"
for verdict in ' holds$' 'violated, refused (ext3/7)$'; do
	grep -q "$verdict" said.1 || fail "the guard does not say: $verdict"
done
[ "$(denials | wc -l)" = 1 ] || { denials && fail "AppArmor has forbidden something"; }
echo "denials but that of cat: 0"

show fsward detach vm
virsh dumpxml --inactive vm | cmp - before.xml || fail "the definition is not what it was"
echo "the definition is what it was, byte for byte"
qemu-img convert -O raw $image disk.img
e2fsck -p -E journal_only disk.img
show e2fsck -fn disk.img
debugfs -R 'stat /victim' disk.img 2>/dev/null | grep -o 'Links: .*'
trap - ERR
echo passed
