/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The interface of fsw_ramdisk. All numbers are in the byte order of the machine.
 * Structs have no holes, and the same layout for 32 and 64 bits. The disks are
 * /dev/fswrd0, /dev/fswrd1, ...
 *
 * /dev/fsw_ramdisk takes commands. A command is an ioctl number and its struct.
 * It is given by ioctl(2); or, for callers without pointers, by write(2) of
 * struct fsw_rd_call followed by the struct. Then read(2) on the same open file
 * returns the struct if the command has an answer (_IOR, _IOWR).
 *
 * /dev/fsw_ramdisk_log is the log, a stream of struct fsw_rd_record, each
 * followed by data_len bytes of data and zeros up to a multiple of 8 bytes. One
 * process at a time can have it open. Reading removes records from the log.
 */
#ifndef FSW_RAMDISK_H
#define FSW_RAMDISK_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FSW_RD_ABI		1

#define FSW_RD_SECTOR		512
#define FSW_RD_PAGE		4096
#define FSW_RD_DISKS		8	/* numbers 0 to 7 */
#define FSW_RD_MAX_BYTES	0x1000000000ULL
#define FSW_RD_SNAPSHOTS	64	/* of a disk */
#define FSW_RD_RULES		16	/* of a disk */
#define FSW_RD_NAME		32	/* bytes, with the terminating zero */
#define FSW_RD_TEXT		256	/* bytes of a mark */
#define FSW_RD_NUMBERS		256	/* page numbers in one answer */
#define FSW_RD_DELAY_MS		60000	/* the longest delay */

/* Operations of bios. */
enum fsw_rd_op {
	FSW_RD_READ = 1,
	FSW_RD_WRITE,
	FSW_RD_FLUSH,		/* a flush without data; one with data is FSW_RD_F_PREFLUSH */
	FSW_RD_DISCARD,
	FSW_RD_ZEROES,
};

/* Flags of a bio. */
#define FSW_RD_F_FUA		0x01
#define FSW_RD_F_PREFLUSH	0x02
#define FSW_RD_F_META		0x04
#define FSW_RD_F_SYNC		0x08
#define FSW_RD_F_PRIO		0x10
#define FSW_RD_F_RAHEAD		0x20
#define FSW_RD_F_BACKGROUND	0x40
#define FSW_RD_F_NOUNMAP	0x80

/* Types of records. */
enum fsw_rd_type {
	FSW_RD_SUBMIT = 1,	/* a bio was submitted; the data of a write follows */
	FSW_RD_COMPLETE,	/* a bio ended; its first done bytes took effect */
	FSW_RD_MARK,		/* FSW_RD_IOC_MARK; the text follows */
	FSW_RD_LOST,		/* the log was full, and len records are missing here */
	FSW_RD_SNAPSHOT,	/* a snapshot was made; its name follows */
	FSW_RD_RESTORE,		/* a snapshot was restored; its name follows */
	FSW_RD_PATCH,		/* FSW_RD_IOC_PAGE_SET; the data follows */
};

struct fsw_rd_record {
	__u64 seq;		/* number of the record, from 1; a LOST record fills each gap */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 id;		/* of the bio, from 1; the same in SUBMIT and COMPLETE */
	__u64 sector;		/* where the bio begins, in sectors of FSW_RD_SECTOR bytes */
	__u64 len;		/* bytes of the bio's range */
	__u64 done;		/* bytes, of COMPLETE */
	__u32 data_len;		/* bytes that follow, without the padding */
	__u16 type;		/* enum fsw_rd_type */
	__u16 op;		/* enum fsw_rd_op */
	__u32 flags;		/* FSW_RD_F_* */
	__u32 disk;
	__s32 status;		/* of COMPLETE: 0 or a negative errno */
	__u32 injected;		/* bit 1 << action for each rule that fired */
	__u32 pid;		/* of the thread that submitted or completed the bio */
	__u32 tgid;		/* of its process */
	char comm[16];		/* name of the thread */
};

struct fsw_rd_call {
	__u32 cmd;		/* FSW_RD_IOC_* */
	__u32 size;		/* bytes of the struct that follows */
};

struct fsw_rd_hello {
	__u32 abi;		/* FSW_RD_ABI of the module */
	__u32 disks;		/* number of disks */
	__u64 log_bytes;	/* size of the log; 0 before its first use */
	__u64 log_used;		/* bytes in the log */
	__u64 lost;		/* records that did not fit, since the module was loaded */
	__s64 pages;		/* pages of memory for contents and snapshots of all disks */
};

struct fsw_rd_disk {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 bytes;		/* size, a multiple of FSW_RD_PAGE; 0: remove the disk */
};

struct fsw_rd_switch {
	__u32 disk;
	__u32 on;		/* 1: switch logging or guarding on; 0: off */
};

/* The answer that a bio of a guarded disk waits for. */
struct fsw_rd_answer {
	__u32 disk;
	__u32 error;		/* errno with which the bio fails; 0: the disk does it */
	__u64 id;		/* of the bio */
};

struct fsw_rd_mark {
	__u32 len;		/* bytes of text, at least 1 */
	__u32 pad;		/* 0 */
	char text[FSW_RD_TEXT];
};

struct fsw_rd_snapshot {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 pages;		/* answer of RESTORE: pages that were restored */
	char name[FSW_RD_NAME];	/* not empty, zero-terminated */
};

struct fsw_rd_changed {
	__u32 disk;
	__u32 count;		/* answer: length of pages; if not full, there are no more */
	__u64 from;		/* the smallest page number to list */
	char name[FSW_RD_NAME];	/* the snapshot */
	__u64 pages[FSW_RD_NUMBERS]; /* answer: page numbers, ascending */
};

struct fsw_rd_page {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 page;		/* number of the page of FSW_RD_PAGE bytes */
	__u8 data[FSW_RD_PAGE];
};

/* What a rule does to a bio. */
enum fsw_rd_action {
	FSW_RD_FAIL = 1,	/* it fails with error, and changes nothing */
	FSW_RD_DELAY,		/* it is done arg ms later; later bios do not wait for it */
	FSW_RD_TEAR,		/* only the first arg sectors of a write take effect */
	FSW_RD_DROP_FLUSH,	/* its flush is not done, and no error is reported */
};

struct fsw_rd_rule {
	__u32 disk;
	__u32 action;		/* enum fsw_rd_action */
	__u32 ops;		/* bit 1 << op for each operation that counts; DROP_FLUSH: 0 */
	__u32 error;		/* errno of FAIL and TEAR; 0 for TEAR: success is reported */
	__u64 nth;		/* the first bio to hit, counted from now on, from 1 */
	__u64 times;		/* number of bios to hit from there on; DELAY: 1 */
	__u64 arg;
};

struct fsw_rd_stat {
	__u32 disk;
	__u32 logging;		/* 0 or 1 */
	__u64 bytes;
	__u64 pages;		/* pages of memory for its contents */
	__u64 kept;		/* pages of memory that only snapshots need */
	__u32 snapshots;	/* snapshots that were not dropped */
	__u32 rules;		/* rules that can still fire */
	/* Counts since the disk was made. */
	__u64 fired;		/* hits of rules */
	__u64 submitted;	/* bios */
	__u64 completed;	/* bios */
	__u64 no_memory;	/* bios that failed because memory was short */
};

struct fsw_rd_number {
	__u32 disk;
	__u32 pad;		/* 0 */
};

#define FSW_RD_IOC_HELLO	_IOR(0xf5, 0, struct fsw_rd_hello)
#define FSW_RD_IOC_DISK		_IOW(0xf5, 1, struct fsw_rd_disk)
#define FSW_RD_IOC_LOG		_IOW(0xf5, 2, struct fsw_rd_switch)
#define FSW_RD_IOC_MARK		_IOW(0xf5, 3, struct fsw_rd_mark)
#define FSW_RD_IOC_SNAPSHOT	_IOW(0xf5, 4, struct fsw_rd_snapshot)
#define FSW_RD_IOC_RESTORE	_IOWR(0xf5, 5, struct fsw_rd_snapshot)
#define FSW_RD_IOC_DROP		_IOW(0xf5, 6, struct fsw_rd_snapshot)
#define FSW_RD_IOC_CHANGED	_IOWR(0xf5, 7, struct fsw_rd_changed)
#define FSW_RD_IOC_PAGE_GET	_IOWR(0xf5, 8, struct fsw_rd_page)
#define FSW_RD_IOC_PAGE_SET	_IOW(0xf5, 9, struct fsw_rd_page)
#define FSW_RD_IOC_INJECT	_IOW(0xf5, 10, struct fsw_rd_rule)
#define FSW_RD_IOC_CLEAR	_IOW(0xf5, 11, struct fsw_rd_number)
#define FSW_RD_IOC_STAT		_IOWR(0xf5, 12, struct fsw_rd_stat)
#define FSW_RD_IOC_GUARD	_IOW(0xf5, 13, struct fsw_rd_switch)
#define FSW_RD_IOC_ANSWER	_IOW(0xf5, 14, struct fsw_rd_answer)

#endif
