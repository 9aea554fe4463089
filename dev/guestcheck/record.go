package guestcheck

import (
	"errors"
	"os"

	"fsward/explore/ramdisk"
)

// endMark is the text of the mark behind the last record that a check reads.
const endMark = "check end"

// A Log is the log of a module, for records of type R.
type Log[R any] struct {
	Open func() (*os.File, error)
	// Next returns the function that reads the next record of a log that is open.
	Next func(log *os.File) func() (R, error)
	// Mark puts a text into the log, and IsMark reports whether a record is a mark with this text.
	Mark   func(text string) error
	IsMark func(r R, text string) bool
}

// DiskLog returns the log of the bios of all disks of fsw_ramdisk.
func DiskLog(c *ramdisk.Control) *Log[*ramdisk.Record] {
	return &Log[*ramdisk.Record]{
		Open:   ramdisk.OpenLog,
		Next:   func(f *os.File) func() (*ramdisk.Record, error) { return ramdisk.NewReader(f).Next },
		Mark:   c.Mark,
		IsMark: func(r *ramdisk.Record, text string) bool { return r.Type == ramdisk.Mark && string(r.Data) == text },
	}
}

// During reads the log while do runs, and gives each record to see. It returns when all records of do have been read.
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

// read takes records from next in the background, until next fails or end reports that a record is the last, and gives those
// before it to see. The result is the error of next, or else the first error of see: the log is read on after that one, so that
// it does not fill up.
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
