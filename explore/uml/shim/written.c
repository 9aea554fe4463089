// SPDX-License-Identifier: Apache-2.0
/*
 * Notes which pages of its disks a user-mode Linux writes, for a host that restores
 * them. The file that FSWARD_WRITTEN names begins with three lists, each with a word
 * for each of DISKS disks: the device and the inode of its file, or 0 for no disk, and
 * its pages. From MAPS_AT on it has the pages of the first disk, a byte for each, and
 * then those of the others. explore/uml/written.go writes the lists, and clears the
 * bytes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "written.h"

#define PAGE_BYTES 4096
#define MAPS_AT 4096

struct written {
	uint64_t device[DISKS];
	uint64_t inode[DISKS];
	uint64_t pages[DISKS];
};

static struct written *written;

void *map_file(const char *variable, uint64_t *bytes)
{
	const char *path = getenv(variable);
	struct stat st;
	void *map;
	int fd;

	if (!path)
		return NULL;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	*bytes = st.st_size;
	return map;
}

__attribute__((constructor)) static void map_written(void)
{
	uint64_t bytes;

	written = map_file("FSWARD_WRITTEN", &bytes);
}

int disk_of(int fd)
{
	struct stat st;

	if (!written || fstat(fd, &st) < 0)
		return -1;
	for (int i = 0; i < DISKS; i++)
		if (written->inode[i] == st.st_ino && written->device[i] == st.st_dev)
			return i;
	return -1;
}

void note_written(int disk, uint64_t from, uint64_t bytes)
{
	uint8_t *pages = (uint8_t *)written + MAPS_AT;

	if (!bytes)
		return;
	for (int i = 0; i < disk; i++)
		pages += written->pages[i];
	for (uint64_t n = from / PAGE_BYTES; n <= (from + bytes - 1) / PAGE_BYTES; n++)
		if (n < written->pages[disk])
			pages[n] = 1;
}
