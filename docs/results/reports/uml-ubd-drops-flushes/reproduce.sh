#!/bin/sh
# Shows that the disk of user-mode Linux passes no flush on to the host. Debian packages:
# user-mode-linux, gcc, e2fsprogs. A library counts the calls of fdatasync(2), which is what
# os_sync_file() does. Inside, a file is written and synced five times.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/count.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int fd)
{
	int log = open(getenv("COUNT"), O_WRONLY | O_APPEND | O_CREAT, 0600);

	if (log >= 0 && write(log, "x", 1) == 1)
		close(log);
	return syscall(SYS_fdatasync, fd);
}
C
gcc -shared -fPIC -o "$dir/count.so" "$dir/count.c"
truncate -s 32M "$dir/disk"
mke2fs -q -t ext4 "$dir/disk"
mkdir "$dir/mnt" "$dir/dev"
cat >"$dir/init" <<I
#!/bin/sh
mount -t devtmpfs dev $dir/dev
mount $dir/dev/ubda $dir/mnt || echo "cannot mount"
for i in 1 2 3 4 5; do
	echo \$i >$dir/mnt/file
	sync $dir/mnt/file && echo "synced \$i"
done
umount $dir/mnt
mount -t proc proc /proc
echo o >/proc/sysrq-trigger
sleep 10
I
chmod +x "$dir/init"
COUNT="$dir/count" LD_PRELOAD="$dir/count.so" timeout 60 linux.uml mem=64M "ubd0=$dir/disk" \
	root=/dev/root rootfstype=hostfs rw quiet con0=null,fd:1 con=null "init=$dir/init" </dev/null |
	grep -E 'synced|mount' || true
[ -e "$dir/count" ] || : >"$dir/count"
echo "calls of fdatasync on the host: $(wc -c <"$dir/count"), and at least 5 are needed"
