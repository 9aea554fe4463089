package ekm

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"fsward/explore/device"
)

// Type is the type of a record. The zero value is invalid.
type Type uint32

// The constants are FSW_EK_T_*; Chosen is FSW_EK_T_CHOICE, and SystemCall* are FSW_EK_T_CALL*. The
// functions are those of the kernel whose calls are recorded.
const (
	Mark           Type = 1 + iota // Data is the text
	Lost                           // the log was full, and Len records are missing here
	Chosen                         // Pos: number, Len: bound, Status: value, Flags: point
	BufferDirty                    // mark_buffer_dirty(); Data is the contents
	BufferJournal                  // jbd2_journal_dirty_metadata(); Data is the contents
	BufferLock                     // __lock_buffer(): the thread waits for a locked buffer
	BufferUnlock                   // unlock_buffer()
	BufferSubmit                   // submit_bh() of a write; Data is the contents
	BufferWritten                  // end_buffer_write_sync(), end_buffer_async_write()
	BufferForget                   // __bforget(), jbd2_journal_forget()
	FolioDirty                     // folio_mark_dirty(), a record for each page; Data is the contents
	FolioRedirty                   // folio_redirty_for_writepage()
	FolioClean                     // folio_clear_dirty_for_io(): the folio is about to be written
	FolioCancel                    // __folio_cancel_dirty(): the folio is clean without a write
	FolioWriteback                 // __folio_start_writeback()
	FolioWritten                   // folio_end_writeback()
	FolioDrop                      // block_invalidate_folio(): part of the folio or all is dropped
	BioSubmit                      // submit_bio_noacct()
	BioData                        // of a write, a record for each page; Data is the contents
	BioEnd                         // bio_endio()
	SystemCall                     // Call describes it
	SystemCallData                 // Data is what call Object wrote, from byte Pos on
	types
)

var typeNames = [...]string{
	"invalid", "mark", "lost", "choice",
	"buffer dirty", "buffer journal", "buffer lock", "buffer unlock", "buffer submit",
	"buffer written", "buffer forget",
	"folio dirty", "folio redirty", "folio clean", "folio cancel", "folio writeback",
	"folio written", "folio drop",
	"bio submit", "bio data", "bio end", "call", "call data",
}

func (t Type) String() string {
	if t >= types {
		t = 0
	}
	return typeNames[t]
}

// Record is a record of the log: struct fsw_ek_record.
type Record struct {
	Seq  uint64        // number of the record, from 1; a Lost record fills each gap
	Time time.Duration // CLOCK_MONOTONIC of the guest
	// Object identifies a buffer, folio or bio by its address, which the kernel reuses. Of a system
	// call it is the number.
	Object  uint64
	Ino     uint64 // of folios: the inode
	Pos     uint64 // bytes: of buffers and bios on the device, of folios in the file
	Len     uint64 // bytes
	PFN     uint64 // number of the page of memory with the contents
	PageOff uint32 // where in that page the contents begin, bytes
	Type    Type
	Flags   uint32
	Dev     uint32 // dev_t, as Device returns it
	Status  int32  // 0 or a negative errno
	PID     uint32 // of the thread; 0 in an interrupt
	TGID    uint32 // of its process
	Comm    string // name of the thread
	// DiskSeq is the number of the last record of the RAM disks' log before this one; 0: there is
	// none, or the write set is not logged.
	DiskSeq uint64
	Data    []byte // valid until the next call of Next
	Call    *SystemInfo
}

// Op returns the operation of a bio, a ramdisk.Op of explore/ramdisk. 0 is an operation that the
// RAM disk does not support.
func (r *Record) Op() uint8 { return uint8(r.Flags) }

// BioFlags returns the flags of a bio, ramdisk.Flags of explore/ramdisk.
func (r *Record) BioFlags() uint32 { return r.Flags >> 8 }

// Flags of records of buffers and folios: their state when the function was called.
const (
	WasDirty     = 1 // FSW_EK_F_DIRTY
	WasWriteback = 2 // FSW_EK_F_WRITEBACK: the folio was in writeback, or the buffer was locked
)

// Flags of SystemCall: the module could not read all of a path or of the data from the process.
const (
	PathMissing = 1 // FSW_EK_F_PATH
	DataMissing = 2 // FSW_EK_F_DATA
)

// SystemInfo describes a system call: struct fsw_ek_syscall.
type SystemInfo struct {
	Name   string
	Args   [6]uint64
	Result int64     // negative: an errno
	Paths  [2]string // "" where the call has no path
}

// Reader reads the records of the log.
type Reader = device.Reader[Record]

// NewReader returns a Reader of an open log or of a copy of one. A copy may begin at any record.
func NewReader(r io.Reader) *Reader { return device.NewReader(r, &format) }

var format = device.Format[Record]{
	Name: "ekm", Size: recordSize,
	Decode: func(b []byte) (*Record, device.Header, error) {
		rec, n := decodeRecord((*[recordSize]byte)(b))
		h := device.Header{Seq: rec.Seq, Gap: rec.Type == Lost, Lost: rec.Len, Data: n}
		return rec, h, check(rec, n)
	},
	Attach: func(rec *Record, data []byte) (err error) {
		if rec.Data = data; rec.Type == SystemCall {
			rec.Call, err = decodeCall(data)
		}
		return err
	},
}

func decodeRecord(b *[recordSize]byte) (rec *Record, dataLen uint32) {
	rec = &Record{
		Seq:     le.Uint64(b[0:]),
		Time:    time.Duration(le.Uint64(b[8:])),
		Object:  le.Uint64(b[16:]),
		Ino:     le.Uint64(b[24:]),
		Pos:     le.Uint64(b[32:]),
		Len:     le.Uint64(b[40:]),
		PFN:     le.Uint64(b[48:]),
		PageOff: le.Uint32(b[56:]),
		Type:    Type(le.Uint32(b[64:])),
		Flags:   le.Uint32(b[68:]),
		Dev:     le.Uint32(b[72:]),
		Status:  int32(le.Uint32(b[76:])),
		PID:     le.Uint32(b[80:]),
		TGID:    le.Uint32(b[84:]),
		Comm:    text(b[88:104]),
		DiskSeq: le.Uint64(b[104:]),
	}
	return rec, le.Uint32(b[60:])
}

// check returns an error for a record that the module cannot have written.
func check(rec *Record, dataLen uint32) error {
	least, most := uint32(0), uint32(0)
	switch rec.Type {
	case Mark:
		least, most = 1, MaxMark
	case Chosen:
		most = MaxText
	case BufferDirty, BufferJournal, BufferSubmit:
		least = uint32(min(rec.Len, MaxData))
		most = least
	case FolioDirty, BioData, SystemCallData:
		least, most = uint32(min(rec.Len, MaxData+1)), MaxData
	case SystemCall:
		least, most = syscallSize, syscallSize+2*(MaxPath+1)
	}
	switch {
	case rec.Type == 0 || rec.Type >= types:
		return fmt.Errorf("a record has the unknown type %d", uint32(rec.Type))
	case dataLen < least || dataLen > most:
		return fmt.Errorf("record %d, %s of %d bytes, has %d bytes of data",
			rec.Seq, rec.Type, rec.Len, dataLen)
	case rec.Type == Chosen && (rec.Flags >= uint32(points) ||
		rec.Status < 0 || uint64(rec.Status) >= rec.Len):
		return fmt.Errorf("record %d: invalid choice: value %d, bound %d, %v",
			rec.Seq, rec.Status, rec.Len, Point(rec.Flags))
	case rec.PageOff >= 1<<12:
		return fmt.Errorf("record %d: the contents begin at byte %d of a page",
			rec.Seq, rec.PageOff)
	}
	return nil
}

func decodeCall(b []byte) (*SystemInfo, error) {
	s := &SystemInfo{Result: int64(le.Uint64(b[48:])), Name: text(b[64:syscallSize])}
	for i := range s.Args {
		s.Args[i] = le.Uint64(b[8*i:])
	}
	rest := b[syscallSize:]
	for i := range s.Paths {
		n := le.Uint32(b[56+4*i:])
		if uint64(n) > uint64(len(rest)) {
			return nil, fmt.Errorf("path %d of %s has %d bytes, want at most the %d that follow",
				i+1, s.Name, n, len(rest))
		}
		path := rest[:n]
		if n > 0 && (path[n-1] != 0 || bytes.IndexByte(path, 0) != int(n)-1) {
			return nil, fmt.Errorf("path %d of %s does not end at its only zero", i+1, s.Name)
		}
		s.Paths[i] = text(path)
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow the paths of %s, want 0", len(rest), s.Name)
	}
	return s, nil
}
