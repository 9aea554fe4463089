// SPDX-License-Identifier: Apache-2.0
/*
 * Lets a repair program read an image of which nothing is written back.
 * SHIM_IMAGE is the image, and SHIM_PLACES a text file with a line
 * "OFFSET WIDTH" for each field. SHIM_SEALS has the checksums, which are made
 * right (seals.c). SHIM_INPUT is read when the program opens the image: records
 * of two bytes, the number of a field, and the field's new bytes. The image is
 * mapped once, before AFL++ forks, and each process has a private copy. Its
 * pages are not read before the fork, which would copy their tables.
 */
#define _GNU_SOURCE
#include "seals.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_PLACES 65536
#define MAX_FDS 1024

static struct change places[MAX_PLACES];
static unsigned long n_places;
static const char *image;
static unsigned char *map;
static size_t size;
static off64_t pos[MAX_FDS];	/* of an open image, and -1 for another file */

/* open_raw opens a file without the functions below. */
static int open_raw(const char *path)
{
	return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
}

static void fail(const char *what)
{
	fprintf(stderr, "shim: %s\n", what);
	_exit(125);
}

__attribute__((constructor)) static void map_image(void)
{
	const char *list = getenv("SHIM_PLACES"), *seals = getenv("SHIM_SEALS"), *wrong;
	struct stat st;
	int fd;
	FILE *f;

	memset(pos, -1, sizeof(pos));
	image = getenv("SHIM_IMAGE");
	if (!image || !list)
		return;
	fd = open_raw(image);
	if (fd < 0 || fstat(fd, &st))
		fail("the image cannot be opened");
	size = st.st_size;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		fail("the image cannot be mapped");
	close(fd);
	f = fopen(list, "r");
	if (!f)
		fail("the list of fields cannot be opened");
	while (n_places < MAX_PLACES && fscanf(f, "%lu %u", &places[n_places].off,
					       &places[n_places].width) == 2) {
		if (places[n_places].off + places[n_places].width > size)
			fail("a field is outside of the image");
		n_places++;
	}
	fclose(f);
	if (!n_places)
		fail("the list of fields is empty");
	wrong = seals ? read_seals(seals, size) : NULL;
	if (wrong)
		fail(wrong);
}

/* apply sets the fields that the input names. Records that are cut off set fewer bytes. */
static void apply(void)
{
	static int applied;
	struct change set[32], *p;
	unsigned char b[64];
	ssize_t n, i = 0;
	unsigned int k, n_set = 0;
	int fd;

	if (applied++)
		return;
	fd = open_raw(getenv("SHIM_INPUT"));
	n = read(fd, b, sizeof(b));
	close(fd);
	while (i + 2 < n) {
		p = &places[(b[i] | b[i + 1] << 8) % n_places];
		i += 2;
		for (k = 0; k < p->width && i < n; k++)
			map[p->off + k] = b[i++];
		set[n_set].off = p->off;
		set[n_set++].width = k;
	}
	mend(map, set, n_set);
}

/* The function of the C library that the one here stands before. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static int ours(int fd)
{
	return map && fd >= 0 && fd < MAX_FDS && pos[fd] >= 0;
}

int open64(const char *path, int flags, ...)
{
	va_list ap;
	int mode, fd;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	if (!map || strcmp(path, image))
		return REAL(open64)(path, flags, mode);
	apply();
	fd = open_raw(path);
	if (fd >= 0 && fd < MAX_FDS)
		pos[fd] = 0;
	return fd;
}

int close(int fd)
{
	if (fd >= 0 && fd < MAX_FDS)
		pos[fd] = -1;
	return REAL(close)(fd);
}

/* part returns how many of n bytes at off are in the image. */
static size_t part(off64_t off, size_t n)
{
	if (off < 0 || (size_t)off >= size)
		return 0;
	return n < size - off ? n : size - off;
}

ssize_t pread64(int fd, void *b, size_t n, off64_t off)
{
	if (!ours(fd))
		return REAL(pread64)(fd, b, n, off);
	n = part(off, n);
	if (n)
		memcpy(b, map + off, n);
	return n;
}

/* What is written after the end of the image is lost. */
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t off)
{
	if (!ours(fd))
		return REAL(pwrite64)(fd, b, n, off);
	if (part(off, n))
		memcpy(map + off, b, part(off, n));
	return n;
}

ssize_t read(int fd, void *b, size_t n)
{
	if (!ours(fd))
		return REAL(read)(fd, b, n);
	n = pread64(fd, b, n, pos[fd]);
	pos[fd] += n;
	return n;
}

ssize_t write(int fd, const void *b, size_t n)
{
	if (!ours(fd))
		return REAL(write)(fd, b, n);
	n = pwrite64(fd, b, n, pos[fd]);
	pos[fd] += n;
	return n;
}

off64_t lseek64(int fd, off64_t off, int whence)
{
	if (!ours(fd))
		return REAL(lseek64)(fd, off, whence);
	off += whence == SEEK_CUR ? pos[fd] : whence == SEEK_END ? (off64_t)size : 0;
	if (off < 0)
		return -1;
	return pos[fd] = off;
}

int fsync(int fd)
{
	return ours(fd) ? 0 : REAL(fsync)(fd);
}

int ftruncate64(int fd, off64_t length)
{
	return ours(fd) ? 0 : REAL(ftruncate64)(fd, length);
}

int fallocate64(int fd, int mode, off64_t off, off64_t length)
{
	if (!ours(fd))
		return REAL(fallocate64)(fd, mode, off, length);
	if (part(off, length))
		memset(map + off, 0, part(off, length));
	return 0;
}

/* Repair programs wait before they do something risky. */
unsigned int sleep(unsigned int seconds)
{
	(void)seconds;
	return 0;
}

/* All file systems of the host would be written. */
void sync(void)
{
}

/* The names without a number, for programs that do not ask for large files. */
int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = va_arg(ap, int);
	va_end(ap);
	return open64(path, flags, mode);
}

ssize_t pread(int fd, void *b, size_t n, off_t off)
{
	return pread64(fd, b, n, off);
}

ssize_t pwrite(int fd, const void *b, size_t n, off_t off)
{
	return pwrite64(fd, b, n, off);
}

off_t lseek(int fd, off_t off, int whence)
{
	return lseek64(fd, off, whence);
}

int ftruncate(int fd, off_t length)
{
	return ftruncate64(fd, length);
}

int fallocate(int fd, int mode, off_t off, off_t length)
{
	return fallocate64(fd, mode, off, length);
}
