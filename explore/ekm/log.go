package ekm

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"fsward/explore/device"
)

// Type is what a record tells. The zero value is invalid.
type Type uint32

const (
	Mark           Type = 1 + iota // FSW_EK_T_MARK: Data is its text
	Lost                           // FSW_EK_T_LOST: the log was full: Len records are missing here
	Chosen                         // FSW_EK_T_CHOICE: Pos is its number, Len its bound, Status its value, Flags its point
	BufferDirty                    // FSW_EK_T_BUFFER_DIRTY: mark_buffer_dirty(); Data is what it holds
	BufferJournal                  // FSW_EK_T_BUFFER_JOURNAL: jbd2_journal_dirty_metadata(); Data is what it holds
	BufferLock                     // FSW_EK_T_BUFFER_LOCK: __lock_buffer(): it was locked, and is waited for
	BufferUnlock                   // FSW_EK_T_BUFFER_UNLOCK
	BufferSubmit                   // FSW_EK_T_BUFFER_SUBMIT: submit_bh() of a write; Data is what it holds
	BufferWritten                  // FSW_EK_T_BUFFER_WRITTEN
	BufferForget                   // FSW_EK_T_BUFFER_FORGET
	FolioDirty                     // FSW_EK_T_FOLIO_DIRTY: Data is a page of it
	FolioRedirty                   // FSW_EK_T_FOLIO_REDIRTY
	FolioClean                     // FSW_EK_T_FOLIO_CLEAN: it is about to be written
	FolioCancel                    // FSW_EK_T_FOLIO_CANCEL: it is clean, and not written
	FolioWriteback                 // FSW_EK_T_FOLIO_WRITEBACK
	FolioWritten                   // FSW_EK_T_FOLIO_WRITTEN
	FolioDrop                      // FSW_EK_T_FOLIO_DROP: part of it or all is no more
	BioSubmit                      // FSW_EK_T_BIO_SUBMIT
	BioData                        // FSW_EK_T_BIO_DATA: Data is what a page of a write holds
	BioEnd                         // FSW_EK_T_BIO_END
	SystemCall                     // FSW_EK_T_CALL: Call
	SystemCallData                 // FSW_EK_T_CALL_DATA: Data is what call Object wrote, from byte Pos on
	types
)

var typeNames = [...]string{"invalid", "mark", "lost", "choice", "buffer dirty", "buffer journal", "buffer lock", "buffer unlock",
	"buffer submit", "buffer written", "buffer forget", "folio dirty", "folio redirty", "folio clean", "folio cancel", "folio writeback",
	"folio written", "folio drop", "bio submit", "bio data", "bio end", "call", "call data"}

func (t Type) String() string {
	if t >= types {
		t = 0
	}
	return typeNames[t]
}

// Record is one of the log: struct fsw_ek_record.
type Record struct {
	Seq     uint64        // of the record, from 1; gaps are told by Lost records
	Time    time.Duration // CLOCK_MONOTONIC of the guest
	Object  uint64        // address of a buffer, folio or bio, used anew when that is gone; number of a system call
	Ino     uint64        // inode, of folios
	Pos     uint64        // bytes: of buffers and bios on the device, of folios in the file
	Len     uint64        // bytes
	PFN     uint64        // number of the page of memory that has the contents
	PageOff uint32        // where in it they begin
	Type    Type
	Flags   uint32
	Dev     uint32
	Status  int32  // 0 or a negative errno
	PID     uint32 // the thread; 0: an interrupt
	TGID    uint32 // its process
	Comm    string
	Data    []byte      // valid until the next Next
	Call    *SystemInfo // of SystemCall
}

// Op is what a bio does, numbered as in explore/ramdisk; 0 is an operation that that does not have.
func (r *Record) Op() uint8 { return uint8(r.Flags) }

// BioFlags are those of a bio, as in explore/ramdisk.
func (r *Record) BioFlags() uint32 { return r.Flags >> 8 }

// Flags of buffers and folios, as they were when the function was called.
const (
	WasDirty     = 1 // FSW_EK_F_DIRTY
	WasWriteback = 2 // FSW_EK_F_WRITEBACK: or a buffer was locked
)

// Flags of SystemCall: what could not be read from the process, or was cut.
const (
	PathMissing = 1 // FSW_EK_F_PATH
	DataMissing = 2 // FSW_EK_F_DATA
)

// SystemInfo is a system call: struct fsw_ek_syscall.
type SystemInfo struct {
	Name   string
	Args   [6]uint64
	Result int64     // or a negative errno
	Paths  [2]string // as far as the call has any
}

// Reader reads the records of the log.
type Reader = device.Reader[Record]

// NewReader reads from a log that is open, or from a copy of the stream, which may begin at any record.
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
	return &Record{Seq: le.Uint64(b[0:]), Time: time.Duration(le.Uint64(b[8:])), Object: le.Uint64(b[16:]), Ino: le.Uint64(b[24:]),
		Pos: le.Uint64(b[32:]), Len: le.Uint64(b[40:]), PFN: le.Uint64(b[48:]), PageOff: le.Uint32(b[56:]), Type: Type(le.Uint32(b[64:])),
		Flags: le.Uint32(b[68:]), Dev: le.Uint32(b[72:]), Status: int32(le.Uint32(b[76:])), PID: le.Uint32(b[80:]), TGID: le.Uint32(b[84:]),
		Comm: text(b[88:104])}, le.Uint32(b[60:])
}

// check holds a record against what the module can have written.
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
		return fmt.Errorf("a record of type %d", uint32(rec.Type))
	case dataLen < least || dataLen > most:
		return fmt.Errorf("record %d, %s of %d bytes, has %d bytes of data", rec.Seq, rec.Type, rec.Len, dataLen)
	case rec.Type == Chosen && (rec.Flags >= uint32(points) || rec.Status < 0 || uint64(rec.Status) >= rec.Len):
		return fmt.Errorf("record %d: a choice of %d among %d at %v", rec.Seq, rec.Status, rec.Len, Point(rec.Flags))
	case rec.PageOff >= 1<<12:
		return fmt.Errorf("record %d: contents at byte %d of a page", rec.Seq, rec.PageOff)
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
			return nil, fmt.Errorf("path %d of %s has %d bytes, %d are there", i+1, s.Name, n, len(rest))
		}
		path := rest[:n]
		if n > 0 && (path[n-1] != 0 || bytes.IndexByte(path, 0) != int(n)-1) {
			return nil, fmt.Errorf("path %d of %s does not end in its only zero", i+1, s.Name)
		}
		s.Paths[i] = text(path)
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes after the paths of %s", len(rest), s.Name)
	}
	return s, nil
}
