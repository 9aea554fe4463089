package guestcheck

import (
	"errors"
	"os"

	"fsward/explore/ramdisk"
)

// endMark is the text of the mark after the last record that a check reads.
const endMark = "check end"

// A Log is the log of a module with records of type R.
type Log[R any] struct {
	// Open opens the log.
	Open func() (*os.File, error)
	// Next returns the function that reads the next record of an open log.
	Next func(log *os.File) func() (R, error)
	// Mark adds a mark with a text to the log.
	Mark func(text string) error
	// IsMark reports whether a record is a mark with this text.
	IsMark func(r R, text string) bool
}

// DiskLog returns the log of the bios of all disks of fsw_ramdisk.
func DiskLog(c *ramdisk.Control) *Log[*ramdisk.Record] {
	return &Log[*ramdisk.Record]{
		Open: ramdisk.OpenLog,
		Next: func(f *os.File) func() (*ramdisk.Record, error) { return ramdisk.NewReader(f).Next },
		Mark: c.Mark,
		IsMark: func(r *ramdisk.Record, text string) bool {
			return r.Type == ramdisk.Mark && string(r.Data) == text
		},
	}
}

// During calls do, reads the log meanwhile, and calls see for each record. It returns after all
// records of do.
func (l *Log[R]) During(do func() error, see func(R) error) error {
	f, err := l.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	read := read(l.Next(f), func(r R) bool { return l.IsMark(r, endMark) }, see)
	err = do()
	return errors.Join(err, l.Mark(endMark), <-read)
}

// read reads records in the background, until next fails or end reports true for a record. It calls
// see for each record before that, up to the first error of see. After such an error it continues
// to read, so that the log does not fill up. The result is the error of next or else that of see.
func read[R any](next func() (R, error), end func(R) bool, see func(R) error) <-chan error {
	read := make(chan error, 1)
	go func() {
		var seen error
		for {
			rec, err := next()
			if err != nil {
				read <- err
				return
			}
			if end(rec) {
				read <- seen
				return
			}
			if seen == nil {
				seen = see(rec)
			}
		}
	}()
	return read
}
