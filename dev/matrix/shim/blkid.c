// SPDX-License-Identifier: Apache-2.0
/*
 * Makes `btrfs check` find only the devices in $FSWARD_DISKS, which spaces
 * separate. Without it, btrfs_scan_devices asks libblkid for all devices of the
 * machine, and some of them may be copies of the file system. A mount namespace
 * without these devices is no alternative: it would hold references to the mounts
 * of all other processes.
 *
 * For LD_PRELOAD. dev/matrix/scratch.go compiles it.
 */
#include <stdlib.h>
#include <string.h>

#define BLKID_DEV_NORMAL 3 /* create, verify */

void *blkid_get_dev(void *cache, const char *name, int flags);

int blkid_probe_all(void *cache)
{
	const char *disks = getenv("FSWARD_DISKS");
	char *list = strdup(disks ? disks : ""), *name;

	if (!list)
		return -1;
	for (name = strtok(list, " "); name; name = strtok(NULL, " "))
		blkid_get_dev(cache, name, BLKID_DEV_NORMAL);
	free(list);
	return 0;
}
