package trace

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A Follower reads a log that a Writer is still writing. At the end of the complete entries its
// Next returns io.EOF, and may be called again later. Only one goroutine may use it.
type Follower struct {
	*Reader
	f *os.File
}

// Follow opens a log that may grow. It must not be compressed.
func Follow(path string) (*Follower, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &Follower{f: f}
	if l.Reader, err = NewReader(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Next returns the next entry, as Reader.Next does.
func (l *Follower) Next() (*Entry, error) {
	if l.rest.Len == 0 && l.index >= l.nrEntries {
		var count [8]byte
		if _, err := l.f.ReadAt(count[:], nrEntriesAt); err != nil {
			return nil, err
		}
		l.nrEntries = binary.LittleEndian.Uint64(count[:])
		if l.index >= l.nrEntries {
			return nil, io.EOF
		}
	}
	return l.Reader.Next()
}

// Behind returns the bytes of the file that were not read yet.
func (l *Follower) Behind() uint64 {
	info, err := l.f.Stat()
	if err != nil {
		return 0
	}
	return uint64(max(info.Size()-l.pos, 0))
}

// Close closes the file.
func (l *Follower) Close() error { return l.f.Close() }
