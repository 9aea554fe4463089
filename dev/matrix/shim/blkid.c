// SPDX-License-Identifier: Apache-2.0
/*
 * Lets `btrfs check` find no devices but those named in $FSWARD_DISKS, with
 * spaces between. It asks libblkid for all of the machine (btrfs_scan_devices),
 * among which there may be copies of the file system, and a mount namespace in
 * which there are none would keep the mounts of everyone else.
 *
 * For LD_PRELOAD, which dev/matrix/scratch.go compiles.
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
