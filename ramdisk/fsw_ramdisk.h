/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What fsw_ramdisk and its users agree on. All numbers are in the byte order of
 * the machine; structs have no holes and the same layout for 32 and 64 bits.
 *
 * /dev/fsw_ramdisk takes commands. A command is an ioctl number and its struct,
 * by ioctl(2); or, for callers without pointers, by write(2) of struct
 * fsw_rd_call followed by the struct, after which read(2) on the same open file
 * gives the struct back if the command has an answer (_IOR, _IOWR). The disks
 * are /dev/fswrd0, /dev/fswrd1, ...
 *
 * /dev/fsw_ramdisk_log gives the log, a stream of struct fsw_rd_record, each
 * followed by data_len bytes of data and zeros up to a multiple of 8 bytes. One
 * process at a time may have it open. What is read is taken out of the log.
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
#define FSW_RD_NAME		32	/* bytes, with the zero at the end */
#define FSW_RD_TEXT		256	/* bytes of a mark */
#define FSW_RD_NUMBERS		256	/* page numbers of one answer */
#define FSW_RD_DELAY_MS		60000	/* the longest delay */

/* What a bio does. */
enum fsw_rd_op {
	FSW_RD_READ = 1,
	FSW_RD_WRITE,
	FSW_RD_FLUSH,		/* without data; with data it is FSW_RD_F_PREFLUSH */
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
	FSW_RD_SUBMIT = 1,	/* a bio came; its data follows if it is a write */
	FSW_RD_COMPLETE,	/* a bio ended: the first done bytes took effect */
	FSW_RD_MARK,		/* FSW_RD_IOC_MARK; its text follows */
	FSW_RD_LOST,		/* the log was full: len records are missing here */
	FSW_RD_SNAPSHOT,	/* a snapshot was made; its name follows */
	FSW_RD_RESTORE,		/* one was restored; its name follows */
	FSW_RD_PATCH,		/* FSW_RD_IOC_PAGE_SET; the data follows */
};

struct fsw_rd_record {
	__u64 seq;		/* of the record, from 1, without gaps but LOST ones */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 id;		/* of the bio, from 1: COMPLETE has that of its SUBMIT */
	__u64 sector;		/* of FSW_RD_SECTOR bytes */
	__u64 len;		/* bytes of the bio's range */
	__u64 done;		/* bytes, of COMPLETE */
	__u32 data_len;		/* bytes that follow, less the padding */
	__u16 type;		/* enum fsw_rd_type */
	__u16 op;		/* enum fsw_rd_op */
	__u32 flags;		/* FSW_RD_F_* */
	__u32 disk;
	__s32 status;		/* of COMPLETE: 0 or a negative errno */
	__u32 injected;		/* bit 1 << action for each rule that fired */
	__u32 pid;		/* thread that submitted, or completed */
	__u32 tgid;		/* its process */
	char comm[16];
};

struct fsw_rd_call {
	__u32 cmd;		/* FSW_RD_IOC_* */
	__u32 size;		/* bytes of its struct, which follows */
};

struct fsw_rd_hello {
	__u32 abi;		/* FSW_RD_ABI of the module */
	__u32 disks;		/* that there are */
	__u64 log_bytes;	/* size of the log; 0 before it is first used */
	__u64 log_used;		/* bytes in it */
	__u64 lost;		/* records that did not fit, ever */
	__s64 pages;		/* of memory that contents and snapshots take, all disks */
};

struct fsw_rd_disk {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 bytes;		/* multiple of FSW_RD_PAGE; 0 to remove the disk */
};

struct fsw_rd_switch {
	__u32 disk;
	__u32 on;		/* 1: what the disk does is logged; 0: it is not */
};

/* What becomes of a bio of a guarded disk. */
struct fsw_rd_answer {
	__u32 disk;
	__u32 error;		/* errno that it ends with, and nothing takes effect; 0: it is done */
	__u64 id;		/* of its SUBMIT */
};

struct fsw_rd_mark {
	__u32 len;		/* bytes of text, at least 1 */
	__u32 pad;		/* 0 */
	char text[FSW_RD_TEXT];
};

struct fsw_rd_snapshot {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 pages;		/* answer of RESTORE: pages that were put back */
	char name[FSW_RD_NAME];	/* not empty, ends in a zero */
};

struct fsw_rd_changed {
	__u32 disk;
	__u32 count;		/* answer: numbers in pages; fewer than all: the last */
	__u64 from;		/* the least page number that is asked for */
	char name[FSW_RD_NAME];	/* the snapshot */
	__u64 pages[FSW_RD_NUMBERS]; /* answer: rising */
};

struct fsw_rd_page {
	__u32 disk;
	__u32 pad;		/* 0 */
	__u64 page;		/* number, of FSW_RD_PAGE bytes */
	__u8 data[FSW_RD_PAGE];
};

/* What a rule does to a bio. */
enum fsw_rd_action {
	FSW_RD_FAIL = 1,	/* it ends with error; nothing takes effect */
	FSW_RD_DELAY,		/* it is done arg ms later; what comes after is not held up */
	FSW_RD_TEAR,		/* of a write only the first arg sectors take effect */
	FSW_RD_DROP_FLUSH,	/* its flush is not done, and no error says so */
};

struct fsw_rd_rule {
	__u32 disk;
	__u32 action;		/* enum fsw_rd_action */
	__u32 ops;		/* bit 1 << op for each that counts; 0 for DROP_FLUSH */
	__u32 error;		/* errno of FAIL; of TEAR too, or 0: it seems to succeed */
	__u64 nth;		/* the first that is hit, counted from now on, from 1 */
	__u64 times;		/* how many from there on; DELAY: 1 */
	__u64 arg;
};

struct fsw_rd_stat {
	__u32 disk;
	__u32 logging;		/* 0 or 1 */
	__u64 bytes;
	__u64 pages;		/* that hold its contents */
	__u64 kept;		/* that hold what snapshots have and it has no more */
	__u32 snapshots;	/* with a name */
	__u32 rules;		/* that can still fire */
	__u64 fired;		/* times that rules fired, ever */
	__u64 submitted;	/* bios, ever */
	__u64 completed;
	__u64 no_memory;	/* bios that failed for want of memory */
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
