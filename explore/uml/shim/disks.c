// SPDX-License-Identifier: Apache-2.0
/*
 * Stands between a user-mode Linux and the files of its disks. One process of UML's
 * driver performs all requests of all disks, one after the other, by the calls below
 * (io_thread in arch/um/drivers/ubd_kern.c of Linux 6.1). Each call notes the pages
 * that it writes. If the host wants a log, each adds an entry to it, and asks the
 * rules of the host's agent whether it fails.
 *
 * The driver has a bug: a flush has no segments, and io_thread calls do_io, which
 * would call fdatasync, for each segment. So no flush reaches the file. This library
 * looks at the requests as the process reads them, and finds the flushes.
 *
 * FSWARD_UBD_AREA names a file that ends with a struct area, and FSWARD_UBD_LOG one
 * that is the log: a ring of entries, each followed by its data. The package
 * explore/ubd has the same layout.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "written.h"

#define ABI 1
#define AREA_BYTES (1 << 20)
#define RULES 16
#define SECTOR_BYTES 512

enum op { OP_READ = 1, OP_WRITE, OP_FLUSH, OP_DISCARD, OP_ZEROES };

struct rule { /* each request of some kinds, from the nth on, fails */
	uint32_t disk;
	uint32_t ops; /* a bit for each enum op */
	uint32_t error; /* 0: there is no rule */
	uint32_t unused;
	uint64_t nth;
	uint64_t times;
	uint64_t seen;
};

struct area {
	uint64_t abi;
	uint64_t logged; /* a bit for each disk */
	uint64_t written; /* bytes of the log, since it was made */
	uint64_t taken; /* by the host */
	uint64_t lost; /* entries that did not fit */
	uint64_t unused[3];
	struct rule rule[RULES];
};

struct entry {
	uint32_t op;
	uint32_t disk;
	uint64_t from;
	uint64_t bytes;
	uint64_t done;
	uint32_t error;
	uint32_t injected;
	uint64_t data; /* bytes after this struct */
};

static struct area *area;
static char *ring;
static uint64_t ring_bytes;
static char still[1 << 20]; /* what is written, while it is written */

__attribute__((constructor)) static void map_area(void)
{
	uint64_t bytes;
	char *file = map_file("FSWARD_UBD_AREA", &bytes);

	if (!file)
		return;
	ring = map_file("FSWARD_UBD_LOG", &ring_bytes);
	if (!ring || bytes < AREA_BYTES)
		return;
	area = (struct area *)(file + bytes - AREA_BYTES);
	if (area->abi != ABI)
		area = NULL;
}

/* fails() - count a request, and return the error that the rules give it. */
static int fails(enum op op, int disk)
{
	int error = 0;

	for (struct rule *r = area->rule; r < area->rule + RULES; r++) {
		if (!r->error || r->disk != (uint32_t)disk || !(r->ops & (1U << op)))
			continue;
		r->seen++;
		if (r->seen >= r->nth && r->seen - r->nth < r->times)
			error = r->error;
	}
	return error;
}

/* put() - write bytes to the ring. */
static uint64_t put(uint64_t at, const void *from, uint64_t bytes)
{
	uint64_t begin = at % ring_bytes;
	uint64_t first = bytes < ring_bytes - begin ? bytes : ring_bytes - begin;

	memcpy(ring + begin, from, first);
	memcpy(ring, (const char *)from + first, bytes - first);
	return at + bytes;
}

static void add(const struct entry *e, const void *data)
{
	uint64_t at = area->written;
	uint64_t bytes = sizeof(*e) + e->data;

	if (!(area->logged & (1ULL << e->disk)))
		return;
	if (bytes > ring_bytes - (at - __atomic_load_n(&area->taken, __ATOMIC_ACQUIRE))) {
		area->lost++;
		return;
	}
	at = put(put(at, e, sizeof(*e)), data, e->data);
	__atomic_store_n(&area->written, at, __ATOMIC_RELEASE);
}

/* struct io_thread_req of Linux 6.1 */
struct request {
	void *req;
	int fds[2];
	unsigned long offsets[2];
	unsigned long long offset;
	int sector_bytes;
	int error; /* blk_status_t */
	int segments;
};

#define BATCH 64 /* UBD_REQ_BUFFER_SIZE: requests that the process reads at once */
#define BLK_STS_IOERR 10

static pid_t kernel; /* the first process of UML; the driver has another one */
static struct request *queue[BATCH]; /* what the process has read and not performed */
static int queued, next, done_of_next; /* done_of_next: segments of queue[next] */

__attribute__((constructor)) static void begin(void)
{
	kernel = syscall(SYS_getpid);
}

static int in_driver(void)
{
	return area && syscall(SYS_getpid) != kernel;
}

/* flushes() - perform the flushes that come before the next request with data. */
static void flushes(void)
{
	for (; next < queued && queue[next]->segments == 0; next++) {
		struct entry e = { .op = OP_FLUSH, .disk = disk_of(queue[next]->fds[0]) };

		e.error = fails(OP_FLUSH, e.disk);
		e.injected = e.error != 0;
		if (e.error)
			queue[next]->error = BLK_STS_IOERR;
		add(&e, NULL);
	}
}

/* performed() - note that a segment of the next request with data has been performed. */
static void performed(int failed)
{
	if (next == queued)
		return;
	done_of_next++;
	if (failed || done_of_next >= queue[next]->segments) {
		next++;
		done_of_next = 0;
	}
}

ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t n = syscall(SYS_read, fd, to, bytes);

	if (n <= 0 || bytes != sizeof(queue) || !in_driver())
		return n;
	queued = n / sizeof(queue[0]);
	next = 0;
	done_of_next = 0;
	memcpy(queue, to, n);
	for (int i = 0; i < queued; i++)
		if (n % sizeof(queue[0]) || queue[i]->sector_bytes != SECTOR_BYTES ||
		    queue[i]->segments < 0 || disk_of(queue[i]->fds[0]) < 0)
			abort(); /* this kernel has another struct io_thread_req */
	return n;
}

/* The process writes the requests that it has performed. */
ssize_t write(int fd, const void *from, size_t bytes)
{
	if (next < queued && in_driver())
		flushes();
	return syscall(SYS_write, fd, from, bytes);
}

/*
 * request() - perform a system call that is a part of a request to a disk. If it
 * changes the disk, its bytes are noted, whether it succeeds or not. The kernel itself
 * looks for a header when it opens a disk (read_cow_header in cow_user.c): that is no
 * request.
 */
static long request(enum op op, int fd, uint64_t from, uint64_t bytes, const void *data,
		    long call, long a, long b, long c)
{
	struct entry e = { .op = op, .from = from, .bytes = bytes };
	int disk = disk_of(fd);
	long done;

	if (disk >= 0 && op != OP_READ)
		note_written(disk, from, bytes);
	if (disk < 0 || !in_driver())
		return syscall(call, fd, a, b, c);
	flushes();
	if (op == OP_WRITE && bytes <= sizeof(still)) {
		/* A page can change while it is written: disk and log get the same. */
		data = memcpy(still, data, bytes);
		a = (long)data;
	}
	e.disk = disk;
	errno = fails(op, disk);
	e.injected = errno != 0;
	done = errno ? -1 : syscall(call, fd, a, b, c);
	if (done < 0)
		e.error = errno;
	else
		e.done = op == OP_READ || op == OP_WRITE ? (uint64_t)done : bytes;
	if (op == OP_WRITE)
		e.data = bytes;
	add(&e, data);
	performed(done < 0);
	return done;
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t from)
{
	return request(OP_WRITE, fd, from, bytes, data, SYS_pwrite64, (long)data, bytes, from);
}

ssize_t pread64(int fd, void *data, size_t bytes, off_t from)
{
	return request(OP_READ, fd, from, bytes, NULL, SYS_pread64, (long)data, bytes, from);
}

int fallocate64(int fd, int mode, off_t from, off_t bytes)
{
	enum op op = mode & FALLOC_FL_PUNCH_HOLE ? OP_DISCARD : OP_ZEROES;

	return request(op, fd, from, bytes, NULL, SYS_fallocate, mode, from, bytes);
}
