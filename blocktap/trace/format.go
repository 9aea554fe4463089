// Package trace reads and writes logs of the writes to a disk, in the format of Linux's
// dm-log-writes (drivers/md/dm-log-writes.c). Start reading at Writer, Reader and Merge.
package trace

// A log begins with a superblock in the first sector. Entries follow. Each entry has a header,
// which takes one sector, and then the written data:
//
//	[   1 sector    ][ nr_sectors ][   1 sector    ] …
//	[log_write_entry][    data    ][log_write_entry] …
//
// A discard has no data; its nr_sectors is the length of the range. A mark has nr_sectors 0 and
// data_len bytes of text in the header's sector, right after the header. An entry with the flush
// flag and no sectors is a flush; with sectors, it is a write that was preceded by a flush. All
// numbers are little-endian. The unit of sector and nr_sectors is the log's sector size. The
// replay-log program of xfstests reads this format too.

import (
	"encoding/binary"
	"strings"
)

const (
	magic   = 0x6a736677736872 // WRITE_LOG_MAGIC
	version = 1                // WRITE_LOG_VERSION

	minSectorSize = 512
	maxSectorSize = 64 << 10

	superLen  = 28 // struct log_write_super: magic, version, nr_entries u64; sectorsize u32
	headerLen = 32 // struct log_write_entry: sector, nr_sectors, flags, data_len u64

	nrEntriesAt = 16 // offset of nr_entries in the superblock
)

// Flags are the type of an entry and the properties of its write.
type Flags uint64

const (
	Flush    Flags = 1 << iota // LOG_FLUSH_FLAG
	FUA                        // LOG_FUA_FLAG
	Discard                    // LOG_DISCARD_FLAG
	Mark                       // LOG_MARK_FLAG
	Metadata                   // LOG_METADATA_FLAG: the write was marked REQ_META

	knownFlags = Flush | FUA | Discard | Mark | Metadata
)

func (f Flags) String() string {
	var names []string
	for i, name := range [...]string{"flush", "fua", "discard", "mark", "metadata"} {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// header is struct log_write_entry.
type header struct {
	sector, nrSectors uint64
	flags             Flags
	dataLen           uint64
}

func (h header) put(b []byte) {
	binary.LittleEndian.PutUint64(b, h.sector)
	binary.LittleEndian.PutUint64(b[8:], h.nrSectors)
	binary.LittleEndian.PutUint64(b[16:], uint64(h.flags))
	binary.LittleEndian.PutUint64(b[24:], h.dataLen)
}

func parseHeader(b *[headerLen]byte) header {
	return header{
		sector:    binary.LittleEndian.Uint64(b[0:8]),
		nrSectors: binary.LittleEndian.Uint64(b[8:16]),
		flags:     Flags(binary.LittleEndian.Uint64(b[16:24])),
		dataLen:   binary.LittleEndian.Uint64(b[24:32]),
	}
}
