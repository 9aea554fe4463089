#!/bin/sh
# Shows that a power failure in the first transaction of a TDB can leave a database that cannot be
# opened. Debian packages: tdb-tools, gcc. The power fails in the first fdatasync of the commit: the
# header is on the disk, as it was there before, and the new size of the file is not. A library ends
# the process there, and the script gives the file its old size. Exits 1 if the database is lost.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >fail.c <<'C'
#include <unistd.h>

int fdatasync(int fd)
{
	(void)fd;
	_exit(1);
}
C
gcc -shared -fPIC -o fail.so fail.c

printf 'create db\nstore important data\n' | tdbtool >/dev/null
tdbdump -k important db && echo
before=$(stat -c %s db)
printf 'transaction_start\nstore n 1\ntransaction_commit\n' |
	LD_PRELOAD="$dir/fail.so" tdbtool db >/dev/null || true
echo "before the transaction: $before bytes; at the power failure: $(stat -c %s db)"
truncate -s "$before" db
[ -z "${KEEP:-}" ] || cp db "$KEEP"
tdbtool db check 2>&1 | head -n 4
tdbdump -k important db
