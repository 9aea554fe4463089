package audit

import (
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
	starts []uint64       // position of the first entry of each log
	undone []trace.Undone // by log
	total  uint64         // entries in all logs
}

// openLogs reads the logs once, to count their entries and to find those that were not performed.
func openLogs(paths []string) (*logs, error) {
	l := &logs{paths: paths}
	for _, path := range paths {
		l.starts = append(l.starts, l.total)
		undone, n, err := trace.ReadUndone(path)
		if err != nil {
			return nil, err
		}
		l.undone = append(l.undone, undone)
		l.total += n
	}
	return l, nil
}

// events yields the events of all logs. Their positions count on from one log to the next.
func (l *logs) events() crash.Events {
	return func(yield func(crash.Event, error) bool) {
		for i, path := range l.paths {
			for ev, err := range crash.OpenTrace(path) {
				if err == nil && l.undone[i].Has(ev.At) && (ev.Kind != crash.Settled || !ev.All) {
					continue // it was refused, and no byte of it reached the disk
				}
				ev.At += l.starts[i]
				ev.Write.ID += l.starts[i]
				for j := range ev.IDs {
					ev.IDs[j] += l.starts[i]
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
