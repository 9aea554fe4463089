#!/usr/bin/env bash
# Boots a Debian host with stock libvirt and AppArmor under QEMU's translator, and follows the guide
# in it: a domain is attached, works, is refused a corrupted commit, and is detached
# (guest/newcomer.sh). It prints what the host prints: docs/results/attach.md. It needs root, 3 GiB of
# memory and 8 GiB in build/.
#
# usage: scripts/apparmor.sh [SUITE]   of Debian: bookworm (the default) or trixie
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${1:-bookworm}
PATH=$PATH:/usr/sbin:/sbin
root=build/debian-$suite-host
guest/root.sh "$suite" "$root" systemd-sysv dbus linux-image-cloud-amd64 initramfs-tools kmod procps \
	e2fsprogs apparmor apparmor-utils libvirt-daemon-system libvirt-daemon libvirt-clients \
	libvirt-daemon-driver-qemu qemu-system-x86 qemu-system-common qemu-utils seabios

work=$(mktemp -d build/apparmor.XXXXXX)
trap 'rm -rf "$work"' EXIT

# The disk of the inner guest. Its victim is an inode with a neighbor in the same block.
mkdir "$work/files"
echo victim >"$work/files/victim"
echo neighbor >"$work/files/neighbor"
truncate -s 64M "$work/disk.img"
mke2fs -q -t ext3 -b 4096 -L root -d "$work/files" "$work/disk.img"
links=$(debugfs -R 'imap /victim' "$work/disk.img" 2>/dev/null |
	sed -n 's/.*located at block \([0-9]*\), offset \(0x[0-9a-f]*\).*/\1 \2/p')
neighbor=$(debugfs -R 'imap /neighbor' "$work/disk.img" 2>/dev/null)
read -r block offset <<<"$links"
[[ $neighbor == *"located at block $block,"* ]] || { echo "no inode beside the victim" >&2 && exit 1; }
address=$((block * 4096 + offset + 26)) # i_links_count

# The host's disk: the folder of the suite, and what the newcomer brings.
host=$work/host at=/root/newcomer
cp -a "$root" "$host"
mkdir -p "$host$at" "$work/inner"
cp fsward guest/newcomer.sh "$host$at/"
qemu-img convert -O qcow2 "$work/disk.img" "$host$at/disk.qcow2"
cp build/guest/vmlinuz "$host/var/lib/libvirt/images/"
cp guest/attached-init "$work/inner/init"
{
	cat build/guest/initramfs.cpio.zst
	(cd "$work/inner" && echo init | cpio --quiet -o -H newc -R 0:0) | zstd -q
} >"$host/var/lib/libvirt/images/initrd.img"
cat >"$host$at/domain.xml" <<END
<domain type='qemu'>
  <name>vm</name>
  <memory unit='MiB'>384</memory>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>/var/lib/libvirt/images/vmlinuz</kernel>
    <initrd>/var/lib/libvirt/images/initrd.img</initrd>
    <cmdline>console=ttyS0 panic=-1 no_timer_check fsward.corrupt=$address</cmdline>
  </os>
  <features><acpi/><apic/></features>
  <on_poweroff>destroy</on_poweroff>
  <devices>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <serial type='file'><source path='/var/log/libvirt/qemu/vm-console.log'/></serial>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2' discard='unmap'/>
      <source file='/var/lib/libvirt/images/vm.qcow2'/>
      <target dev='vda' bus='virtio'/>
      <serial>root</serial>
    </disk>
  </devices>
</domain>
END
cat >"$host/etc/systemd/system/newcomer.service" <<END
[Unit]
Description=Follow the guide of fsward
After=multi-user.target libvirtd.service apparmor.service
Requires=libvirtd.service
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
ExecStart=/bin/bash -c 'exec $at/newcomer.sh >/dev/ttyS1 2>&1'
Environment=HOME=/root
TimeoutStartSec=infinity
END
ln -s ../newcomer.service "$host/etc/systemd/system/multi-user.target.wants/"
truncate -s 4G "$work/host.img"
mke2fs -q -t ext4 -d "$host" "$work/host.img"
kernel=$(echo "$host"/boot/vmlinuz-*) initrd=$(echo "$host"/boot/initrd.img-*)
mv "$kernel" "$work/vmlinuz" && mv "$initrd" "$work/initrd"
rm -rf "$host"

began=$SECONDS
timeout --foreground 3000 qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu Nehalem -smp 2 -m 3G \
	-nodefaults -display none -no-reboot -serial "file:$work/console" -serial stdio \
	-kernel "$work/vmlinuz" -initrd "$work/initrd" \
	-append 'root=/dev/vda rw console=ttyS0 no_timer_check panic=-1 systemd.show_status=1' \
	-drive "file=$work/host.img,format=raw,if=virtio,cache=unsafe" </dev/null |
	sed -u 's/\r$//' | tee "$work/said"
echo "$((SECONDS - began)) s"
[ "$(tail -n 1 "$work/said")" = passed ] || { tail -n 30 "$work/console" >&2 && exit 1; }
