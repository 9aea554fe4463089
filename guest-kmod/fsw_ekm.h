/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What fsw_ekm and its users agree on. All numbers are in the byte order of the
 * machine; structs have no holes and the same layout for 32 and 64 bits. Texts
 * end in a zero. A device is the kernel's dev_t: major << 20 | minor. A folio of
 * Btrfs has that of its superblock, as in /proc/self/mountinfo.
 *
 * /dev/fsw_ekm takes commands. A command is an ioctl number and its struct, by
 * ioctl(2); or, for callers without pointers, by write(2) of struct fsw_ek_do
 * followed by the struct, after which read(2) on the same open file gives the
 * struct back if the command has an answer (_IOR, _IOWR).
 *
 * /dev/fsw_ekm_log gives the log, a stream of struct fsw_ek_record, each followed
 * by data_len bytes of data and zeros up to a multiple of 8 bytes. One process at
 * a time may have it open. What is read is taken out of the log.
 */
#ifndef FSW_EKM_H
#define FSW_EKM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FSW_EK_ABI		1

#define FSW_EK_CHOICES		16384	/* of a run, loaded or taken */
#define FSW_EK_BOUND		65536	/* the largest n of choose(n) */
#define FSW_EK_SITES		2048	/* of all points */
#define FSW_EK_MEMBERS		64
#define FSW_EK_DEVICES		8
#define FSW_EK_HELD		64	/* threads */
#define FSW_EK_OBSERVED		128	/* threads, and what workers of queues ran */
#define FSW_EK_TEXT		80	/* bytes of a site or a symbol, with the zero */
#define FSW_EK_MARK		256	/* bytes of a mark */
#define FSW_EK_DATA		4096	/* bytes of data of one record, at most */
#define FSW_EK_PATH		1024	/* bytes of a path in the log, with the zero */
#define FSW_EK_WAIT_MS		10000	/* the longest wait for a thread */

/* How many one answer holds. */
#define FSW_EK_VALUES_PER	512
#define FSW_EK_CHOICES_PER	32
#define FSW_EK_SITES_PER	32
#define FSW_EK_THREADS_PER	24

/* Where a choice is made: 0 fails nothing, 1 fails. */
enum fsw_ek_point {
	FSW_EK_CALL,		/* choose(n), by FSW_EK_IOC_CHOOSE or fsw_ekm_choose() */
	FSW_EK_SLAB,		/* an allocation from a slab */
	FSW_EK_PAGE,		/* of pages */
	FSW_EK_BREAD,		/* reading a buffer */
	FSW_EK_READ,		/* reading a page into the page cache */
	FSW_EK_USER,		/* access to memory of user space */
	FSW_EK_SUBMIT,		/* a bio that is submitted: it fails and never reaches the disk */
	FSW_EK_END,		/* a bio that ends: what was done is said to have failed */
	FSW_EK_POINTS
};

enum fsw_ek_mode {
	FSW_EK_OFF,
	FSW_EK_COUNT,		/* hits are counted by their sites; nothing fails */
	FSW_EK_ON,		/* each hit is a choose(2) */
};

/* What is logged. */
#define FSW_EK_LOG_WRITES	0x01	/* the write set of the devices that are watched */
#define FSW_EK_LOG_CALLS	0x02	/* system calls of members that change files */
#define FSW_EK_LOG_CHOICES	0x04

/* Types of records. */
enum fsw_ek_type {
	FSW_EK_T_MARK = 1,	/* FSW_EK_IOC_MARK; its text follows */
	FSW_EK_T_LOST,		/* the log was full: len records are missing here */
	FSW_EK_T_CHOICE,	/* pos is its number, len its bound, status its value, flags its point */
	/* Buffers. object is the buffer, pos where it is on dev. */
	FSW_EK_T_BUFFER_DIRTY,	/* mark_buffer_dirty(); contents follow */
	FSW_EK_T_BUFFER_JOURNAL, /* jbd2_journal_dirty_metadata(); contents follow */
	FSW_EK_T_BUFFER_LOCK,	/* __lock_buffer(): it was locked, and is waited for */
	FSW_EK_T_BUFFER_UNLOCK,	/* unlock_buffer() */
	FSW_EK_T_BUFFER_SUBMIT,	/* submit_bh() of a write; contents follow */
	FSW_EK_T_BUFFER_WRITTEN, /* end_buffer_{write_sync,async_write}(); status */
	FSW_EK_T_BUFFER_FORGET,	/* __bforget(), jbd2_journal_forget() */
	/* Folios. object is the folio, pos where it is in file ino of dev. */
	FSW_EK_T_FOLIO_DIRTY,	/* folio_mark_dirty(); contents follow, a record for each page */
	FSW_EK_T_FOLIO_REDIRTY,	/* folio_redirty_for_writepage() */
	FSW_EK_T_FOLIO_CLEAN,	/* folio_clear_dirty_for_io() */
	FSW_EK_T_FOLIO_CANCEL,	/* __folio_cancel_dirty() */
	FSW_EK_T_FOLIO_WRITEBACK, /* __folio_start_writeback() */
	FSW_EK_T_FOLIO_WRITTEN,	/* folio_end_writeback() */
	FSW_EK_T_FOLIO_DROP,	/* block_invalidate_folio(): part of it or all */
	/* Bios. object is the bio, pos where it begins on dev, flags its operation and flags. */
	FSW_EK_T_BIO_SUBMIT,	/* submit_bio_noacct() */
	FSW_EK_T_BIO_DATA,	/* of a write, a record for each page; contents follow */
	FSW_EK_T_BIO_END,	/* bio_endio(); status */
	/* System calls. object is the number of the call, pos the sequence at its beginning. */
	FSW_EK_T_CALL,		/* struct fsw_ek_syscall follows, then the paths with their zeros */
	FSW_EK_T_CALL_DATA,	/* what a write wrote: data from byte pos on */
	FSW_EK_T_END
};

/* Flags of a bio: the operation as in fsw_ramdisk.h in the low byte, and FSW_RD_F_* above it. */
#define FSW_EK_BIO_OP		0xff
#define FSW_EK_BIO_FLAGS	8	/* bits to shift */

/* Flags of buffers and folios: what they were when the function was called. */
#define FSW_EK_F_DIRTY		0x1
#define FSW_EK_F_WRITEBACK	0x2	/* or the buffer is locked */

/* Flags of FSW_EK_T_CALL: what could not be read from the process, or was cut. */
#define FSW_EK_F_PATH		0x1
#define FSW_EK_F_DATA		0x2

struct fsw_ek_record {
	__u64 seq;		/* of the record, from 1, without gaps but LOST ones */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 object;		/* address: it is used anew when the object is gone */
	__u64 ino;		/* inode, of folios */
	__u64 pos;		/* bytes */
	__u64 len;		/* bytes */
	__u64 pfn;		/* of the page that has the contents */
	__u32 page_off;		/* where in it they begin */
	__u32 data_len;		/* bytes that follow, less the padding */
	__u32 type;		/* enum fsw_ek_type */
	__u32 flags;
	__u32 dev;
	__s32 status;		/* 0 or a negative errno */
	__u32 pid;		/* of the thread; 0 from an interrupt */
	__u32 tgid;		/* its process */
	char comm[16];
};

struct fsw_ek_syscall {
	__u64 args[6];
	__s64 result;
	__u32 path_len[2];	/* bytes of the first and the second path, with the zero */
	char name[16];		/* without __x64_sys_ */
};

struct fsw_ek_do {
	__u32 cmd;		/* FSW_EK_IOC_* */
	__u32 size;		/* bytes of its struct, which follows */
};

struct fsw_ek_hello {
	__u32 abi;		/* FSW_EK_ABI of the module */
	__u32 what;		/* FSW_EK_LOG_* that is logged */
	__u32 probes;		/* that are in place */
	__u32 pad;		/* 0 */
	__u64 log_bytes;	/* size of the log; 0 before it is first used */
	__u64 log_used;		/* bytes in it */
	__u64 lost;		/* records that did not fit, ever */
	__u64 missed;		/* hits that probes in place could not take: another was being handled */
};

struct fsw_ek_choose {
	__u32 bound;		/* n, at least 1 */
	__u32 value;		/* answer: 0 to n-1 */
	char site[FSW_EK_TEXT];	/* who asks */
};

/* The first value of a sequence replaces what was loaded; others follow each other. */
struct fsw_ek_load {
	__u32 from;
	__u32 count;		/* of values; 0 with from 0: an empty sequence */
	__u32 values[FSW_EK_VALUES_PER];
};

struct fsw_ek_run {
	__u32 loaded;		/* values */
	__u32 taken;		/* choices since FSW_EK_IOC_START that are recorded */
	__u64 full;		/* that there was no room for: 0 was taken */
	__u64 diverged;		/* whose loaded value was not below the bound: 0 was taken */
	__u64 foreign;		/* calls of threads that are no members: 0 was given */
	__u64 interrupts;	/* calls from interrupts: 0 was given */
};

#define FSW_EK_F_REPLAYED	0x1	/* the value was loaded */
#define FSW_EK_F_DIVERGED	0x2	/* one was, and is not below the bound */

struct fsw_ek_choice {
	__u32 bound;
	__u32 value;
	__u32 point;		/* enum fsw_ek_point */
	__u32 flags;
	__u32 pid;
	__u32 tgid;
	__u64 stack;		/* hash of the call stack: the same in each boot of a kernel */
	char comm[16];
	char site[FSW_EK_TEXT];	/* symbol+0xoffset */
};

struct fsw_ek_taken {
	__u32 from;		/* the first that is asked for */
	__u32 count;		/* answer */
	struct fsw_ek_choice choices[FSW_EK_CHOICES_PER];
};

struct fsw_ek_set {
	__u32 point;		/* enum fsw_ek_point, not FSW_EK_CALL */
	__u32 mode;		/* enum fsw_ek_mode */
	__u64 stack;		/* only calls with this stack; 0: all */
	char symbol[FSW_EK_TEXT]; /* only calls with this symbol, or symbol+0xoffset, on the stack; empty: all */
};

struct fsw_ek_stat {
	__u32 point;
	__u32 mode;
	__u32 functions;	/* that are probed */
	__u32 pad;		/* 0 */
	__u64 hits;		/* by members, at the site if there is a limit, since SET */
	__u64 failed;
	__u64 elsewhere;	/* by members, at other sites */
	__u64 exempt;		/* by members: must not fail, as __GFP_NOFAIL says */
	__u64 foreign;		/* by threads that are no members */
	__u64 interrupts;
	__u64 full;		/* hits at sites that there was no room for */
};

struct fsw_ek_site {
	__u64 stack;
	__u64 hits;
	__u64 failed;
	__u32 point;
	__u32 pad;		/* 0 */
	char site[FSW_EK_TEXT];
};

struct fsw_ek_sites {
	__u32 from;
	__u32 count;		/* answer */
	struct fsw_ek_site sites[FSW_EK_SITES_PER];
};

enum fsw_ek_kind {
	FSW_EK_TREE = 1,	/* a process and its descendants, as long as their parents live */
	FSW_EK_THREAD,		/* a thread, of the kernel or of a process */
};

struct fsw_ek_member {
	__u32 pid;
	__u32 kind;		/* enum fsw_ek_kind */
	__u32 on;		/* 1: belongs to the checked system; 0: does not */
	__u32 pad;		/* 0 */
};

struct fsw_ek_watch {
	__u32 dev;		/* a whole disk or a partition, as the file system uses it */
	__u32 on;
};

struct fsw_ek_log {
	__u32 what;		/* FSW_EK_LOG_* */
	__u32 pad;		/* 0 */
};

struct fsw_ek_mark {
	__u32 len;		/* bytes of text, at least 1 */
	__u32 pad;		/* 0 */
	char text[FSW_EK_MARK];
};

#define FSW_EK_F_WORKER		0x1	/* it runs the items of work queues */
#define FSW_EK_F_RESCUER	0x2	/* it waits to do so when memory is short: named as its queue */
#define FSW_EK_F_HELD		0x4

struct fsw_ek_thread {
	__u32 pid;
	__u32 flags;
	__s32 nice;
	__u32 policy;		/* SCHED_* */
	__u64 switches;		/* context switches */
	__u64 run_ns;		/* of processor time */
	__u64 last_run_ns;	/* when it last came to a processor, sched_clock() */
	__u64 events;		/* of the write-set log that it caused, ever */
	char comm[16];
	char work[FSW_EK_TEXT];	/* function of the work item with which it last did */
};

struct fsw_ek_threads {
	__u32 from;		/* pids above this */
	__u32 count;		/* answer: rising */
	struct fsw_ek_thread threads[FSW_EK_THREADS_PER];
};

enum fsw_ek_hold_how {
	FSW_EK_HOLD = 1,	/* the lowest priority */
	FSW_EK_RUN,		/* the highest, until it ran or wait_ms are over; then as before */
	FSW_EK_RELEASE,		/* the priority it had before it was held */
};

struct fsw_ek_hold {
	__u32 pid;
	__u32 how;		/* enum fsw_ek_hold_how */
	__u32 wait_ms;		/* of RUN */
	__u32 ran;		/* answer of RUN: 1 if it ran */
};

struct fsw_ek_strayed {
	__u32 pid;
	__u32 pad;		/* 0 */
	__u64 run_ns;		/* that it ran while held, RUN aside */
	__u64 switches;		/* context switches in that time */
	__u64 last_run_ns;
	char comm[16];
};

struct fsw_ek_stray {
	__u32 held;		/* answer: threads that are held */
	__u32 count;		/* answer: of them, those that ran anyway */
	struct fsw_ek_strayed threads[FSW_EK_HELD];
};

#define FSW_EK_IOC_HELLO	_IOR(0xf6, 0, struct fsw_ek_hello)
#define FSW_EK_IOC_CHOOSE	_IOWR(0xf6, 1, struct fsw_ek_choose)
#define FSW_EK_IOC_LOAD		_IOW(0xf6, 2, struct fsw_ek_load)
#define FSW_EK_IOC_START	_IO(0xf6, 3)
#define FSW_EK_IOC_STATE	_IOR(0xf6, 4, struct fsw_ek_run)
#define FSW_EK_IOC_TAKEN	_IOWR(0xf6, 5, struct fsw_ek_taken)
#define FSW_EK_IOC_SET		_IOW(0xf6, 6, struct fsw_ek_set)
#define FSW_EK_IOC_STAT		_IOWR(0xf6, 7, struct fsw_ek_stat)
#define FSW_EK_IOC_SITES	_IOWR(0xf6, 8, struct fsw_ek_sites)
#define FSW_EK_IOC_MEMBER	_IOW(0xf6, 9, struct fsw_ek_member)
#define FSW_EK_IOC_WATCH	_IOW(0xf6, 10, struct fsw_ek_watch)
#define FSW_EK_IOC_LOG		_IOW(0xf6, 11, struct fsw_ek_log)
#define FSW_EK_IOC_MARK		_IOW(0xf6, 12, struct fsw_ek_mark)
#define FSW_EK_IOC_THREADS	_IOWR(0xf6, 13, struct fsw_ek_threads)
#define FSW_EK_IOC_HOLD		_IOWR(0xf6, 14, struct fsw_ek_hold)
#define FSW_EK_IOC_STRAY	_IOR(0xf6, 15, struct fsw_ek_stray)

#endif
