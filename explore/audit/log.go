package audit

import (
	"errors"
	"fmt"
	"io"

	"fsward/blocktap/trace"
	"fsward/explore/crash"
)

// A Place is a place in one of several logs.
type Place struct {
	Log   string `json:"log"`
	Entry uint64 `json:"entry"` // from 0
}

// logs are dm-log-writes logs of one disk. Each continues the one before.
type logs struct {
	paths  []string
	starts []uint64   // position of the first entry of each log
	undone [][]uint64 // by log: positions of entries that were not performed, in order
	total  uint64     // entries in all logs
}

// openLogs reads the logs once, to count their entries and to find those that were not performed.
func openLogs(paths []string) (*logs, error) {
	l := &logs{paths: paths}
	for _, path := range paths {
		l.starts = append(l.starts, l.total)
		var undone []uint64
		n := uint64(0)
		err := eachEntry(path, func(e *trace.Entry) error {
			n = e.Index + 1
			first, end, ok, err := e.Undone()
			if ok && (end > e.Index || first > end) {
				err = fmt.Errorf("entry %d: the mark %q names entries that do not come before it", e.Index,
					e.Mark)
			}
			for ; ok && err == nil && first < end; first++ {
				undone = append(undone, first)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		l.undone = append(l.undone, undone)
		l.total += n
	}
	return l, nil
}

func eachEntry(path string, visit func(*trace.Entry) error) error {
	f, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		e, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(e)
		}
		if err != nil {
			return err
		}
	}
}

// events yields the events of all logs. Their positions count on from one log to the next.
func (l *logs) events() crash.Events {
	return func(yield func(crash.Event, error) bool) {
		for i, path := range l.paths {
			undone := make(map[uint64]bool)
			for _, n := range l.undone[i] {
				undone[n] = true
			}
			for ev, err := range crash.OpenTrace(path) {
				if err == nil && undone[ev.At] && (ev.Kind != crash.Settled || !ev.All) {
					continue // it was refused, and no byte of it reached the disk
				}
				ev.At += l.starts[i]
				ev.Write.ID += l.starts[i]
				for j := range ev.IDs {
					ev.IDs[j] += l.starts[i]
				}
				if err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
				if !yield(ev, err) || err != nil {
					return
				}
			}
		}
	}
}

// place returns the place of a position.
func (l *logs) place(at uint64) Place {
	i := len(l.starts) - 1
	for i > 0 && l.starts[i] > at {
		i--
	}
	return Place{l.paths[i], at - l.starts[i]}
}
