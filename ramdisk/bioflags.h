/* SPDX-License-Identifier: GPL-2.0 */
/* Converts the operation and flags of a bio to those of fsw_ramdisk.h. fsw_ekm uses it too. */
#ifndef FSW_BIOFLAGS_H
#define FSW_BIOFLAGS_H

#include <linux/bio.h>

#include "fsw_ramdisk.h"

static inline u32 fsw_bio_flags(blk_opf_t opf)
{
	static const struct {
		blk_opf_t theirs;
		u32 ours;
	} table[] = {
		{ REQ_FUA, FSW_RD_F_FUA },	 { REQ_PREFLUSH, FSW_RD_F_PREFLUSH },
		{ REQ_META, FSW_RD_F_META },	 { REQ_SYNC, FSW_RD_F_SYNC },
		{ REQ_PRIO, FSW_RD_F_PRIO },	 { REQ_RAHEAD, FSW_RD_F_RAHEAD },
		{ REQ_NOUNMAP, FSW_RD_F_NOUNMAP }, { REQ_BACKGROUND, FSW_RD_F_BACKGROUND },
	};
	u32 flags = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (opf & table[i].theirs)
			flags |= table[i].ours;
	return flags;
}

/* Returns 0 for an operation that the disk does not support. */
static inline u16 fsw_bio_operation(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return FSW_RD_READ;
	case REQ_OP_WRITE:
		return bio->bi_iter.bi_size ? FSW_RD_WRITE : FSW_RD_FLUSH;
	case REQ_OP_FLUSH:
		return FSW_RD_FLUSH;
	case REQ_OP_DISCARD:
		return FSW_RD_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return FSW_RD_ZEROES;
	default:
		return 0;
	}
}

#endif
