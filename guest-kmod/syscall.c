// SPDX-License-Identifier: GPL-2.0
/*
 * The log of the system calls of members that change files, or that determine which
 * files later calls refer to. A call is logged when it returns. By then the call
 * itself has read its paths and data, so that they are in memory, and can be read
 * here without faults. The record also has the position of the log when it began.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "internal.h"

/* Maximum number of running calls of one kind. */
#define UNDER_WAY 32

#define NONE 7	/* in place of an argument's number: there is none */

/* How a call passes data. */
enum data_kind {
	NO_DATA,
	BUFFER,		/* an argument points to bytes; the result is their number */
	VECTOR,		/* an argument points to struct iovec; the next is their number */
	VALUE,		/* an argument points to bytes; the next is their number */
};

struct call {
	const char *name;	/* without __x64_sys_ */
	u8 path[2];		/* numbers of the arguments with paths */
	u8 data;		/* number of the argument with data */
	u8 kind;		/* enum data_kind */
	bool on;		/* the probe is in place */
	struct kretprobe rp;
};

#define CALL(n, p0, p1, d, k) { .name = n, .path = { p0, p1 }, .data = d, .kind = k }
#define PLAIN(n) CALL(n, NONE, NONE, NONE, NO_DATA)
#define PATH(n, p) CALL(n, p, NONE, NONE, NO_DATA)
#define PATHS(n, p, q) CALL(n, p, q, NONE, NO_DATA)

static struct call calls[] = {
	PATH("open", 0), PATH("openat", 1), CALL("openat2", 1, NONE, 2, VALUE), PATH("creat", 0),
	PLAIN("close"), PLAIN("close_range"), PLAIN("dup"), PLAIN("dup2"), PLAIN("dup3"),
	PLAIN("fcntl"), PLAIN("lseek"),
	PATH("chdir", 0), PLAIN("fchdir"),
	CALL("write", NONE, NONE, 1, BUFFER), CALL("pwrite64", NONE, NONE, 1, BUFFER),
	CALL("writev", NONE, NONE, 1, VECTOR), CALL("pwritev", NONE, NONE, 1, VECTOR),
	CALL("pwritev2", NONE, NONE, 1, VECTOR),
	PLAIN("sendfile64"), PLAIN("copy_file_range"), PLAIN("splice"), PLAIN("ioctl"),
	PATH("truncate", 0), PLAIN("ftruncate"), PLAIN("fallocate"),
	PATH("mkdir", 0), PATH("mkdirat", 1), PATH("mknod", 0), PATH("mknodat", 1),
	PATH("rmdir", 0),
	PATH("unlink", 0), PATH("unlinkat", 1),
	PATHS("rename", 0, 1), PATHS("renameat", 1, 3), PATHS("renameat2", 1, 3),
	PATHS("link", 0, 1), PATHS("linkat", 1, 3),
	PATHS("symlink", 0, 1), PATHS("symlinkat", 0, 2),
	PATH("chmod", 0), PLAIN("fchmod"), PATH("fchmodat", 1),
	PATH("chown", 0), PATH("lchown", 0), PLAIN("fchown"), PATH("fchownat", 1),
	PATH("utime", 0), PATH("utimes", 0), PATH("futimesat", 1),
	CALL("utimensat", 1, NONE, NONE, NO_DATA),
	CALL("setxattr", 0, 1, 2, VALUE), CALL("lsetxattr", 0, 1, 2, VALUE),
	CALL("fsetxattr", NONE, 1, 2, VALUE),
	PATHS("removexattr", 0, 1), PATHS("lremovexattr", 0, 1), PATH("fremovexattr", 1),
	PLAIN("fsync"), PLAIN("fdatasync"), PLAIN("sync"), PLAIN("syncfs"),
	PLAIN("sync_file_range"), PLAIN("msync"),
	PATHS("mount", 0, 1), PATH("umount", 0),
};

/* Kept from the begin of a call to its end. */
struct begun {
	u64 seq;	/* of the last record of the log */
	u64 args[6];
};

/* 2 * FSW_EK_PATH + FSW_EK_DATA bytes. The probes run without preemption. */
static char __percpu *scratch;
static atomic64_t numbers;	/* number of the last call */
static u64 missed;		/* hits missed by probes that were removed */
static u32 places;		/* number of probes in place */

static int call_begins(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct pt_regs *user = (void *)regs_get_kernel_argument(regs, 0);
	struct begun *b = (void *)ri->data;

	if (!fsw_logs(FSW_EK_LOG_CALLS) || !fsw_is_member())
		return 1;
	*b = (struct begun){
		.seq = READ_ONCE(fsw_ring.seq),
		.args = { user->di, user->si, user->dx, user->r10, user->r8, user->r9 },
	};
	return 0;
}

/*
 * Reads a zero-terminated text from user space. Returns its length with the zero; 0
 * if it is not readable. cut is set if not all of it was read.
 */
static u32 read_text(char *to, u64 from, bool *cut)
{
	u32 n = 0;

	while (n < FSW_EK_PATH) {
		/* Only up to the end of the page: the next page may not be mapped. */
		u32 part = min_t(u64, FSW_EK_PATH - n, PAGE_SIZE - offset_in_page(from + n));
		char *end;

		if (copy_from_user_nofault(to + n, (const void __user *)(from + n), part)) {
			*cut = true;
			return 0;
		}
		end = memchr(to + n, 0, part);
		if (end)
			return end - to + 1;
		n += part;
	}
	*cut = true;
	to[n - 1] = 0;
	return n;
}

/* Logs bytes of user space, a record for each page. Returns false if not all were logged. */
static bool put_data(u64 id, u64 pos, u64 from, u64 len, char *buf)
{
	bool whole = true;

	while (len && whole) {
		struct fsw_ek_record rec = { .type = FSW_EK_T_CALL_DATA, .object = id, .pos = pos };
		u32 part = min_t(u64, min_t(u64, len, FSW_EK_DATA),
				 PAGE_SIZE - offset_in_page(from));

		if (copy_from_user_nofault(buf, (const void __user *)from, part))
			return false;
		rec.len = rec.data_len = part;
		whole = fsw_log_put(&rec, buf, NULL);
		from += part;
		pos += part;
		len -= part;
	}
	return whole;
}

static bool put_vector(u64 id, u64 vec, u64 count, u64 len, char *buf)
{
	struct iovec v;
	u64 pos = 0;

	for (; len && count; count--, vec += sizeof(v)) {
		u64 part;

		if (copy_from_user_nofault(&v, (const void __user *)vec, sizeof(v)))
			return false;
		part = min_t(u64, v.iov_len, len);
		if (!put_data(id, pos, (unsigned long)v.iov_base, part, buf))
			return false;
		pos += part;
		len -= part;
	}
	return !len;
}

/* Data is logged before its call, so that the call's record can report missing data. */
static bool put_call_data(const struct call *c, u64 id, const struct begun *b, s64 result,
			  char *buf)
{
	if (c->kind == NO_DATA || result < 0)
		return true;
	switch (c->kind) {
	case BUFFER:
		return put_data(id, 0, b->args[c->data], result, buf);
	case VECTOR:
		return put_vector(id, b->args[c->data], b->args[c->data + 1], result, buf);
	default:
		return put_data(id, 0, b->args[c->data], b->args[c->data + 1], buf);
	}
}

static int call_ends(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	const struct begun *b = (void *)ri->data;
	struct fsw_ek_record rec = { .type = FSW_EK_T_CALL, .pos = b->seq };
	struct fsw_ek_syscall s = { .result = regs_return_value(regs) };
	char *paths = this_cpu_ptr(scratch);
	const struct call *c;
	bool cut = false;
	u32 n = 0;
	int i;

	if (!rp)
		return 0;
	c = container_of(rp, struct call, rp);
	rec.object = atomic64_inc_return(&numbers);
	if (!put_call_data(c, rec.object, b, s.result, paths + 2 * FSW_EK_PATH))
		rec.flags |= FSW_EK_F_DATA;
	memcpy(s.args, b->args, sizeof(s.args));
	strscpy(s.name, c->name, sizeof(s.name));
	for (i = 0; i < 2; i++) {
		if (c->path[i] == NONE || !b->args[c->path[i]])
			continue;
		s.path_len[i] = read_text(paths + n, b->args[c->path[i]], &cut);
		n += s.path_len[i];
	}
	if (cut)
		rec.flags |= FSW_EK_F_PATH;
	rec.data_len = sizeof(s) + n;
	fsw_log_put(&rec, &s, paths);
	return 0;
}

int fsw_syscalls_init(void)
{
	scratch = __alloc_percpu(2 * FSW_EK_PATH + FSW_EK_DATA, 8);
	return scratch ? 0 : -ENOMEM;
}

void fsw_syscalls_exit(void)
{
	free_percpu(scratch);
}

static void remove(void)
{
	struct kretprobe *gone[ARRAY_SIZE(calls)];
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].on)
			gone[n++] = &calls[i].rp;
	if (!n)
		return;
	unregister_kretprobes(gone, n);
	for (i = 0; i < n; i++) {
		missed += gone[i]->nmissed + gone[i]->kp.nmissed;
		container_of(gone[i], struct call, rp)->on = false;
	}
	places = 0;
}

static int place(struct call *c)
{
	char symbol[32];
	int err;

	snprintf(symbol, sizeof(symbol), "__x64_sys_%s", c->name);
	c->rp = (struct kretprobe){
		.kp.symbol_name = symbol,
		.entry_handler = call_begins,
		.handler = call_ends,
		.data_size = sizeof(struct begun),
		.maxactive = UNDER_WAY,
	};
	err = register_kretprobe(&c->rp);
	c->rp.kp.symbol_name = NULL;
	c->on = !err;
	return err;
}

/* fsw_syscalls_want() - place or remove all probes here. The caller holds fsw_ctl_lock. */
int fsw_syscalls_want(bool on)
{
	int i, err;

	if (!on) {
		remove();
		return 0;
	}
	if (places)
		return 0;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		err = place(&calls[i]);
		if (err == -ENOENT)
			continue;
		if (err) {
			remove();
			return err;
		}
		places++;
	}
	return 0;
}

u64 fsw_syscalls_missed(void)
{
	u64 n = missed;
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].on)
			n += calls[i].rp.nmissed + calls[i].rp.kp.nmissed;
	return n;
}

u32 fsw_syscalls_on(void)
{
	return places;
}
