/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The interface of fsw_ekm. All numbers are in the byte order of the machine.
 * Structs have no holes, and the same layout for 32 and 64 bits. Texts are
 * zero-terminated. A device is the kernel's dev_t: major << 20 | minor. The
 * device of a Btrfs folio is that of its superblock, as in /proc/self/mountinfo.
 *
 * /dev/fsw_ekm takes commands. A command is an ioctl number and its struct. It is
 * given by ioctl(2); or, for callers without pointers, by write(2) of struct
 * fsw_ek_do followed by the struct. Then read(2) on the same open file returns
 * the struct if the command has an answer (_IOR, _IOWR).
 *
 * /dev/fsw_ekm_log is the log, a stream of struct fsw_ek_record, each followed by
 * data_len bytes of data and zeros up to a multiple of 8 bytes. One process at a
 * time can have it open. Reading removes records from the log.
 */
#ifndef FSW_EKM_H
#define FSW_EKM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FSW_EK_ABI		3

#define FSW_EK_CHOICES		16384	/* choices of a run, loaded or taken */
#define FSW_EK_BOUND		65536	/* the largest n of choose(n) */
#define FSW_EK_SITES		2048	/* sites of all points */
#define FSW_EK_MEMBERS		64
#define FSW_EK_DEVICES		8	/* watched devices */
#define FSW_EK_HELD		64	/* held threads */
#define FSW_EK_OBSERVED		128	/* threads that caused events, once per work function */
#define FSW_EK_TEXT		80	/* bytes of a site or a symbol, with the zero */
#define FSW_EK_MARK		256	/* bytes of a mark */
#define FSW_EK_DATA		4096	/* maximum bytes of data of one record */
#define FSW_EK_PATH		1024	/* bytes of a path in the log, with the zero */
#define FSW_EK_WAIT_MS		10000	/* the longest wait for a thread */
#define FSW_EK_FINDINGS		16	/* findings of the checks */
#define FSW_EK_FINDING		192	/* bytes of the text of a finding, with the zero */
#define FSW_EK_LOCK_NAME	32	/* bytes of the name of a lock, with the zero */
#define FSW_EK_GATES		4	/* locks that were held with both locks of an edge */

/* Items of one command or answer. */
#define FSW_EK_VALUES_PER	512
#define FSW_EK_CHOICES_PER	32
#define FSW_EK_SITES_PER	32
#define FSW_EK_THREADS_PER	24
#define FSW_EK_EDGES_PER	8

/* Choice points. In the kernel, 0 does nothing, and 1 makes the operation fail. */
enum fsw_ek_point {
	FSW_EK_CALL,		/* choose(n), by FSW_EK_IOC_CHOOSE or fsw_ekm_choose() */
	FSW_EK_SLAB,		/* an allocation from a slab */
	FSW_EK_PAGE,		/* an allocation of pages */
	FSW_EK_BREAD,		/* a read of a buffer */
	FSW_EK_READ,		/* a read of a page into the page cache */
	FSW_EK_USER,		/* an access to memory of user space */
	FSW_EK_SUBMIT,		/* a bio fails when it is submitted, and never reaches the disk */
	FSW_EK_END,		/* a bio takes effect, and then reports an error */
	FSW_EK_POINTS
};

enum fsw_ek_mode {
	FSW_EK_OFF,
	FSW_EK_COUNT,		/* each hit is counted by its site; nothing fails */
	FSW_EK_ON,		/* each hit is a choice of two */
};

/* What is logged. */
#define FSW_EK_LOG_WRITES	0x01	/* the write set of the watched devices */
#define FSW_EK_LOG_CALLS	0x02	/* system calls of members that change files */
#define FSW_EK_LOG_CHOICES	0x04

/* Types of records. */
enum fsw_ek_type {
	FSW_EK_T_MARK = 1,	/* FSW_EK_IOC_MARK; the text follows */
	FSW_EK_T_LOST,		/* the log was full, and len records are missing here */
	FSW_EK_T_CHOICE,	/* pos: its number, len: bound, status: value, flags: point */
	/* Buffers. object is the buffer, and pos is its place on dev. */
	FSW_EK_T_BUFFER_DIRTY,	/* mark_buffer_dirty(); contents follow */
	FSW_EK_T_BUFFER_JOURNAL, /* jbd2_journal_dirty_metadata(); contents follow */
	FSW_EK_T_BUFFER_LOCK,	/* __lock_buffer(): the thread waits for a locked buffer */
	FSW_EK_T_BUFFER_UNLOCK,	/* unlock_buffer() */
	FSW_EK_T_BUFFER_SUBMIT,	/* submit_bh() of a write; contents follow */
	FSW_EK_T_BUFFER_WRITTEN, /* end_buffer_{write_sync,async_write}(); status */
	FSW_EK_T_BUFFER_FORGET,	/* __bforget(), jbd2_journal_forget() */
	/* Folios. object is the folio, and pos is its place in file ino of dev. */
	FSW_EK_T_FOLIO_DIRTY,	/* folio_mark_dirty(); contents follow, a record for each page */
	FSW_EK_T_FOLIO_REDIRTY,	/* folio_redirty_for_writepage() */
	FSW_EK_T_FOLIO_CLEAN,	/* folio_clear_dirty_for_io() */
	FSW_EK_T_FOLIO_CANCEL,	/* __folio_cancel_dirty() */
	FSW_EK_T_FOLIO_WRITEBACK, /* __folio_start_writeback() */
	FSW_EK_T_FOLIO_WRITTEN,	/* folio_end_writeback() */
	FSW_EK_T_FOLIO_DROP,	/* block_invalidate_folio(): of a part or the whole */
	/* Bios. object is the bio, pos its place on dev, flags its operation and flags. */
	FSW_EK_T_BIO_SUBMIT,	/* submit_bio_noacct() */
	FSW_EK_T_BIO_DATA,	/* of a write, a record for each page; contents follow */
	FSW_EK_T_BIO_END,	/* bio_endio(); status */
	/* System calls. object is the number of the call. */
	FSW_EK_T_CALL,		/* pos: seq at its begin; fsw_ek_syscall and the paths follow */
	FSW_EK_T_CALL_DATA,	/* data of a call from byte pos on */
	FSW_EK_T_END
};

/* Flags of a bio: an enum fsw_rd_op in the low byte, and FSW_RD_F_* above it. */
#define FSW_EK_BIO_OP		0xff
#define FSW_EK_BIO_FLAGS	8	/* bits to shift */

/* Flags of buffers and folios: their state when the function was called. */
#define FSW_EK_F_DIRTY		0x1
#define FSW_EK_F_WRITEBACK	0x2	/* in writeback; of a buffer: locked */

/* Flags of FSW_EK_T_CALL: not all of a path or of the data could be read. */
#define FSW_EK_F_PATH		0x1
#define FSW_EK_F_DATA		0x2

struct fsw_ek_record {
	__u64 seq;		/* number of the record, from 1; a LOST record fills each gap */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 object;		/* address, which is reused when the object is freed */
	__u64 ino;		/* of folios: the inode */
	__u64 pos;		/* bytes */
	__u64 len;		/* bytes */
	__u64 pfn;		/* of the page with the contents */
	__u32 page_off;		/* where in that page the contents begin, bytes */
	__u32 data_len;		/* bytes that follow, without the padding */
	__u32 type;		/* enum fsw_ek_type */
	__u32 flags;
	__u32 dev;
	__s32 status;		/* 0 or a negative errno */
	__u32 pid;		/* of the thread; 0 in an interrupt */
	__u32 tgid;		/* of its process */
	char comm[16];		/* name of the thread */
	/* The last record of the log of fsw_ramdisk before this one; 0: none, or no write set is logged. */
	__u64 disk_seq;
};

struct fsw_ek_syscall {
	__u64 args[6];
	__s64 result;
	__u32 path_len[2];	/* bytes of the first and the second path, with the zero */
	char name[16];		/* without __x64_sys_ */
};

struct fsw_ek_do {
	__u32 cmd;		/* FSW_EK_IOC_* */
	__u32 size;		/* bytes of the struct that follows */
};

struct fsw_ek_hello {
	__u32 abi;		/* FSW_EK_ABI of the module */
	__u32 what;		/* FSW_EK_LOG_*: what is logged */
	__u32 probes;		/* number of probes in place */
	__u32 pad;		/* 0 */
	__u64 log_bytes;	/* size of the log; 0 before its first use */
	__u64 log_used;		/* bytes in the log */
	__u64 lost;		/* records that did not fit, since the module was loaded */
	__u64 missed;		/* hits that were missed while another was being handled */
};

struct fsw_ek_choose {
	__u32 bound;		/* n, at least 1 */
	__u32 value;		/* answer: 0 to n-1 */
	char site[FSW_EK_TEXT];	/* name of the caller */
};

/* Values from 0 on replace the loaded sequence; others must follow its end. */
struct fsw_ek_load {
	__u32 from;
	__u32 count;		/* length of values; 0 with from 0: an empty sequence */
	__u32 values[FSW_EK_VALUES_PER];
};

struct fsw_ek_run {
	__u32 loaded;		/* number of loaded values */
	__u32 taken;		/* recorded choices since FSW_EK_IOC_START */
	/* Choices whose value was 0, because: */
	__u64 full;		/* FSW_EK_CHOICES were recorded */
	__u64 diverged;		/* the loaded value was not below the bound */
	__u64 foreign;		/* the thread is no member */
	__u64 interrupts;	/* the call came from an interrupt */
};

#define FSW_EK_F_REPLAYED	0x1	/* a value was loaded */
#define FSW_EK_F_DIVERGED	0x2	/* the loaded value was not below the bound */

struct fsw_ek_choice {
	__u32 bound;
	__u32 value;
	__u32 point;		/* enum fsw_ek_point */
	__u32 flags;
	__u32 pid;
	__u32 tgid;
	__u64 stack;		/* hash of the call stack, the same in each boot of a kernel */
	char comm[16];
	char site[FSW_EK_TEXT];	/* symbol+0xoffset */
};

struct fsw_ek_taken {
	__u32 from;		/* number of the first choice to list */
	__u32 count;		/* answer: length of choices */
	struct fsw_ek_choice choices[FSW_EK_CHOICES_PER];
};

struct fsw_ek_set {
	__u32 point;		/* enum fsw_ek_point, not FSW_EK_CALL */
	__u32 mode;		/* enum fsw_ek_mode */
	__u64 stack;		/* only calls with this stack; 0: all */
	/* Only calls with this symbol, or symbol+0xoffset, on the stack; empty: all. */
	char symbol[FSW_EK_TEXT];
};

struct fsw_ek_stat {
	__u32 point;
	__u32 mode;
	__u32 functions;	/* number of functions that are probed */
	__u32 pad;		/* 0 */
	/* Hits since SET: */
	__u64 hits;		/* by members; with a limit of SET, only where it allows */
	__u64 failed;
	__u64 elsewhere;	/* by members, excluded by the limit of SET */
	__u64 exempt;		/* by members, must not fail: __GFP_NOFAIL, or has failed */
	__u64 foreign;		/* by threads that are no members */
	__u64 interrupts;	/* in interrupts */
	__u64 full;		/* not counted by site: there are FSW_EK_SITES */
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
	__u32 from;		/* number of the first site to list */
	__u32 count;		/* answer: length of sites */
	struct fsw_ek_site sites[FSW_EK_SITES_PER];
};

enum fsw_ek_kind {
	FSW_EK_TREE = 1,	/* a process and its descendants, while their parents live */
	FSW_EK_THREAD,		/* a thread of the kernel or of a process */
};

struct fsw_ek_member {
	__u32 pid;
	__u32 kind;		/* enum fsw_ek_kind */
	__u32 on;		/* 1: add to the checked system; 0: remove */
	__u32 pad;		/* 0 */
};

struct fsw_ek_watch {
	__u32 dev;		/* the disk or partition that the file system is on */
	__u32 on;		/* 1: watch; 0: no longer */
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

#define FSW_EK_F_WORKER		0x1	/* runs items of work queues */
#define FSW_EK_F_RESCUER	0x2	/* a worker for short memory, with the name of its queue */
#define FSW_EK_F_HELD		0x4

struct fsw_ek_thread {
	__u32 pid;
	__u32 flags;
	__s32 nice;
	__u32 policy;		/* SCHED_* */
	__u64 switches;		/* context switches */
	__u64 run_ns;		/* processor time */
	__u64 last_run_ns;	/* when it last came to a processor, sched_clock() */
	__u64 events;		/* events of the write-set log that it caused */
	char comm[16];
	char work[FSW_EK_TEXT];	/* function of the work item that caused the last event */
};

struct fsw_ek_threads {
	__u32 from;		/* list threads with greater pids */
	__u32 count;		/* answer: length of threads, in the order of pids */
	struct fsw_ek_thread threads[FSW_EK_THREADS_PER];
};

enum fsw_ek_hold_how {
	FSW_EK_HOLD = 1,	/* give it the lowest priority */
	FSW_EK_RUN,		/* the highest until it ran, at most wait_ms; then the lowest */
	FSW_EK_RELEASE,		/* give it back the priority from before HOLD */
};

struct fsw_ek_hold {
	__u32 pid;
	__u32 how;		/* enum fsw_ek_hold_how */
	__u32 wait_ms;		/* of RUN */
	__u32 ran;		/* answer of RUN: 1 if it ran */
};

/* A thread that ran although it was held. */
struct fsw_ek_strayed {
	__u32 pid;
	__u32 pad;		/* 0 */
	__u64 run_ns;		/* processor time while held, without RUN */
	__u64 switches;		/* context switches in that time */
	__u64 last_run_ns;
	char comm[16];
};

struct fsw_ek_stray {
	__u32 held;		/* answer: number of held threads */
	__u32 count;		/* answer: length of threads */
	struct fsw_ek_strayed threads[FSW_EK_HELD];
};

/* What is checked. */
#define FSW_EK_CHECK_LOCKS	0x01	/* locks: the graph of locks, and locks that are kept */
#define FSW_EK_CHECK_PAIRS	0x02	/* calls that come in pairs */
#define FSW_EK_CHECK_BUFFERS	0x04	/* buffers that change and stay clean */

/* Each FSW_EK_IOC_CHECK begins with an empty graph and without findings. */
struct fsw_ek_check {
	__u32 what;		/* FSW_EK_CHECK_* */
	__u32 pad;		/* 0 */
};

enum fsw_ek_finding_kind {
	FSW_EK_LOCK_LEFT = 1,	/* a thread holds a lock after a system call */
	FSW_EK_UNPAIRED,	/* a thread has not ended what it began in a system call */
	FSW_EK_UNDIRTIED,	/* a buffer has changed and is not dirty */
};

struct fsw_ek_finding {
	__u32 kind;		/* enum fsw_ek_finding_kind */
	__u32 hits;
	char comm[16];		/* name of the thread */
	char text[FSW_EK_FINDING];
};

struct fsw_ek_findings {
	__u32 full;		/* answer: what the tables had no room for, since the load */
	__u32 count;		/* answer: length of findings */
	struct fsw_ek_finding findings[FSW_EK_FINDINGS];
};

/* A thread held from, and wanted to. Names are empty if they are not known. */
struct fsw_ek_edge {
	__u64 from;		/* address of the lock */
	__u64 to;
	__u64 hits;
	__u64 gate[FSW_EK_GATES]; /* locks that were held each time */
	__u32 gates;		/* length of gate */
	__u32 pad;		/* 0 */
	char from_name[FSW_EK_LOCK_NAME];
	char to_name[FSW_EK_LOCK_NAME];
	char from_site[FSW_EK_TEXT]; /* where from was taken the first time */
	char to_site[FSW_EK_TEXT];
	char comm[16];		/* name of the thread */
};

struct fsw_ek_edges {
	__u32 from;		/* place to list from; answer: the next place */
	__u32 count;		/* answer: length of edges; 0: there are no more */
	struct fsw_ek_edge edges[FSW_EK_EDGES_PER];
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
#define FSW_EK_IOC_CHECK	_IOW(0xf6, 16, struct fsw_ek_check)
#define FSW_EK_IOC_FINDINGS	_IOR(0xf6, 17, struct fsw_ek_findings)
#define FSW_EK_IOC_EDGES	_IOWR(0xf6, 18, struct fsw_ek_edges)

#endif
