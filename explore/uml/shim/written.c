// SPDX-License-Identifier: Apache-2.0
/*
 * Notes which pages of its disks a user-mode Linux writes, for a host that restores
 * them. The file that FSWARD_WRITTEN names begins with a word for each of DISKS disks:
 * its inode number, or 0. From MAPS_AT on it has the pages of the first disk, a byte
 * for each, and then those of the others; a second list of words has their numbers.
 * written.go writes the words, and clears the bytes.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISKS 16
#define PAGE_BYTES 4096
#define MAPS_AT 4096

struct written {
	uint64_t inode[DISKS];
	uint64_t pages[DISKS];
};

static struct written *written;

__attribute__((constructor)) static void map_written(void)
{
	const char *path = getenv("FSWARD_WRITTEN");
	struct stat st;
	void *map;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		abort();
	close(fd);
	written = map;
}

static void note(int fd, uint64_t from, uint64_t bytes)
{
	uint8_t *pages = (uint8_t *)written + MAPS_AT;
	struct stat st;
	uint64_t n;

	if (!written || !bytes || fstat(fd, &st) < 0)
		return;
	for (int i = 0; i < DISKS && written->inode[i]; i++) {
		if (written->inode[i] != st.st_ino) {
			pages += written->pages[i];
			continue;
		}
		for (n = from / PAGE_BYTES; n <= (from + bytes - 1) / PAGE_BYTES; n++)
			if (n < written->pages[i])
				pages[n] = 1;
		return;
	}
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t from)
{
	note(fd, from, bytes);
	return syscall(SYS_pwrite64, fd, data, bytes, from);
}
