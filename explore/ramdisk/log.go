package ramdisk

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/device"
)

// Type is the type of a record. The zero value is invalid.
type Type uint16

const (
	Submit   Type = 1 + iota // FSW_RD_SUBMIT: a bio was submitted; Data is what it writes
	Complete                 // FSW_RD_COMPLETE: a bio ended; its first Done bytes took effect
	Mark                     // FSW_RD_MARK: Control.Mark; Data is its text
	Lost                     // FSW_RD_LOST: the log was full, and Len records are missing here
	Snapshot                 // FSW_RD_SNAPSHOT: a snapshot was made; Data is its name
	Restore                  // FSW_RD_RESTORE: a snapshot was restored; Data is its name
	Patch                    // FSW_RD_PATCH: Disk.SetPage; Data is the page
)

func (t Type) String() string {
	if t > Patch {
		t = 0
	}
	return [...]string{
		"invalid", "submit", "complete", "mark", "lost", "snapshot", "restore", "patch",
	}[t]
}

// Record is a record of the log: struct fsw_rd_record.
type Record struct {
	Seq      uint64        // number of the record, from 1; a Lost record fills each gap
	Time     time.Duration // CLOCK_MONOTONIC of the guest
	ID       uint64        // of the bio, from 1; the same in Submit and Complete
	Sector   uint64        // where the bio begins, in sectors of SectorSize bytes; 0 if Len is 0
	Len      uint64        // bytes of the bio's range
	Done     uint64        // bytes that took effect
	Type     Type
	Op       Op
	Flags    Flags
	Disk     uint32
	Status   unix.Errno // of Complete; 0: no error
	Injected Injected   // of Complete
	PID      uint32     // of the thread that submitted or completed the bio
	TGID     uint32     // of its process
	Comm     string     // name of the thread
	Data     []byte     // valid until the next call of Next
}

// maxRecordData bounds the data of one record in bytes. The length of a bio has 32 bits, and the
// log is smaller than that.
const maxRecordData = 1 << 30

// Reader reads the records of the log.
type Reader = device.Reader[Record]

// NewReader returns a Reader of an open log or of a copy of one. A copy may begin at any record.
func NewReader(r io.Reader) *Reader { return device.NewReader(r, &format) }

var format = device.Format[Record]{
	Name: "bio", Size: recordSize,
	Decode: func(b []byte) (*Record, device.Header, error) {
		rec, n := decodeRecord((*[recordSize]byte)(b))
		h := device.Header{Seq: rec.Seq, Gap: rec.Type == Lost, Lost: rec.Len, Data: n}
		return rec, h, check(rec, n)
	},
	Attach: func(rec *Record, data []byte) error {
		rec.Data = data
		return nil
	},
}

func decodeRecord(b *[recordSize]byte) (rec *Record, dataLen uint32) {
	comm, _, _ := bytes.Cut(b[80:96], []byte{0})
	rec = &Record{
		Seq:      le.Uint64(b[0:]),
		Time:     time.Duration(le.Uint64(b[8:])),
		ID:       le.Uint64(b[16:]),
		Sector:   le.Uint64(b[24:]),
		Len:      le.Uint64(b[32:]),
		Done:     le.Uint64(b[40:]),
		Type:     Type(le.Uint16(b[52:])),
		Op:       Op(le.Uint16(b[54:])),
		Flags:    Flags(le.Uint32(b[56:])),
		Disk:     le.Uint32(b[60:]),
		Status:   unix.Errno(-int32(le.Uint32(b[64:]))),
		Injected: Injected(le.Uint32(b[68:])),
		PID:      le.Uint32(b[72:]),
		TGID:     le.Uint32(b[76:]),
		Comm:     string(comm),
	}
	// The sector of a flush means nothing. linear_map_sector of dm-linear subtracts the begin of the
	// target from it, so that it can be below 0.
	if rec.Len == 0 && (rec.Type == Submit || rec.Type == Complete) {
		rec.Sector = 0
	}
	return rec, le.Uint32(b[48:])
}

// check returns an error for a record that the module cannot have written.
func check(rec *Record, dataLen uint32) error {
	switch {
	case rec.Type == 0 || rec.Type > Patch:
		return fmt.Errorf("a record has the unknown type %d", uint16(rec.Type))
	case rec.Disk >= MaxDisks:
		return fmt.Errorf("record %d is of disk %d, want less than %d", rec.Seq, rec.Disk, MaxDisks)
	case rec.Sector > MaxBytes/SectorSize ||
		rec.Type != Lost && rec.Len > MaxBytes-rec.Sector*SectorSize:
		return fmt.Errorf("record %d is of %d bytes at sector %d: no disk is that large",
			rec.Seq, rec.Len, rec.Sector)
	case rec.Type != Lost && rec.Len > math.MaxUint32:
		return fmt.Errorf("record %d is of %d bytes: the length of a bio has 32 bits",
			rec.Seq, rec.Len)
	case rec.Done > rec.Len:
		return fmt.Errorf("record %d: %d of %d bytes are done", rec.Seq, rec.Done, rec.Len)
	case dataLen > maxRecordData:
		return fmt.Errorf("record %d has %d bytes of data, want at most %d",
			rec.Seq, dataLen, maxRecordData)
	}
	want := uint64(dataLen)
	switch rec.Type {
	case Submit:
		want = 0
		if rec.Op == Write {
			want = rec.Len
		}
	case Complete, Lost:
		want = 0
	case Patch:
		want = rec.Len
	}
	if want != uint64(dataLen) ||
		(rec.Type == Submit || rec.Type == Patch) && (rec.Len%SectorSize != 0) {
		return fmt.Errorf("record %d, %s of %s of %d bytes, has %d bytes of data",
			rec.Seq, rec.Type, rec.Op, rec.Len, dataLen)
	}
	return nil
}
