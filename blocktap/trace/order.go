package trace

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// turnMark begins the text of a mark that records the order of entries in several logs. A turn is a
// sequence of entries that go to the same log. At the beginning of each turn the writer adds a mark
// with the number of the turn, from 1. Programs that do not know these marks can read each log by
// itself.
const turnMark = "fsward turn "

// order is the state that the writers of several logs with one order share.
type order struct {
	mu   sync.Mutex // held while any of the logs changes
	logs int        // number of logs; 0 for a log by itself
	turn uint64     // number of the current turn; 0 before the first entry
	last *Writer    // log of the current turn
}

// Together makes writers of the logs of several disks record the common order of their entries, so
// that Merge can restore it. Call it before anything is recorded.
func Together(logs ...*Writer) {
	o := &order{logs: len(logs)}
	for _, l := range logs {
		l.order = o
	}
}

// takeTurn begins a turn of this log unless it has the current turn. The caller holds order.mu.
func (l *Writer) takeTurn() error {
	o := l.order
	if o.logs < 2 || o.last == l {
		return nil
	}
	text := turnMark + strconv.FormatUint(o.turn+1, 10)
	if err := l.append(header{flags: Mark, dataLen: uint64(len(text))}, []byte(text)); err != nil {
		return err
	}
	o.turn, o.last = o.turn+1, l
	return nil
}

// Merged reads the logs of several disks in the order in which they were written. Only one
// goroutine may use it.
type Merged struct {
	logs    []mergedLog
	current int    // index of the log that has the current turn; -1 at the end of all logs
	turn    uint64 // number of the current turn
}

type mergedLog struct {
	*Reader
	turn uint64 // number of its next turn; 0 if it has none or is being read
}

// Merge returns a reader of all logs that were written Together, or of a single log of any origin.
func Merge(logs ...*Reader) (*Merged, error) {
	m := &Merged{}
	for _, r := range logs {
		m.logs = append(m.logs, mergedLog{Reader: r})
	}
	if len(logs) == 1 {
		return m, nil
	}
	for i := range m.logs {
		switch e, err := m.logs[i].Next(); {
		case errors.Is(err, io.EOF): // no entry was written to this log
		case err != nil:
			return nil, fmt.Errorf("log %d: %w", i+1, err)
		default:
			turn, ok, err := turnOf(e)
			if err != nil {
				return nil, fmt.Errorf("log %d: %w", i+1, err)
			}
			if !ok {
				return nil, fmt.Errorf("log %d: %w", i+1, e.bad("the order of its entries is unknown: "+
					"only logs that fsward has recorded together can be merged"))
			}
			m.logs[i].turn = turn
		}
	}
	return m, m.nextTurn()
}

// turnOf returns the number of the turn that an entry marks. ok is false if the entry is not such a
// mark.
func turnOf(e *Entry) (turn uint64, ok bool, err error) {
	text, ok := strings.CutPrefix(e.Mark, turnMark)
	if !ok {
		return 0, false, nil
	}
	if turn, err = strconv.ParseUint(text, 10, 64); err != nil || turn == 0 {
		return 0, false, e.bad("the mark %q has no valid number of a turn", e.Mark)
	}
	return turn, true, nil
}

// nextTurn finds the log that has the next turn. It returns nil at the end of all logs, and an
// error if a log has only later turns.
func (m *Merged) nextTurn() error {
	later := uint64(0)
	for i := range m.logs {
		switch turn := m.logs[i].turn; {
		case turn == m.turn+1:
			m.current, m.turn, m.logs[i].turn = i, turn, 0
			return nil
		case turn != 0:
			later = turn
		}
	}
	m.current = -1
	if later != 0 {
		return fmt.Errorf("write logs: no log contains turn %d, but one contains turn %d: "+
			"a log is truncated or missing, or belongs to another recording", m.turn+1, later)
	}
	return nil
}

// Next returns the next entry, or a piece of one, and the index of its log. At the end of all logs
// the error is io.EOF. Other errors are those of Reader.Next, or say that the logs are incomplete.
func (m *Merged) Next() (log int, e *Entry, err error) {
	for {
		if m.current < 0 {
			return 0, nil, io.EOF
		}
		l := &m.logs[m.current]
		e, err := l.Next()
		switch {
		case errors.Is(err, io.EOF) && len(m.logs) > 1:
			if err := m.nextTurn(); err != nil {
				return 0, nil, err
			}
			continue
		case err != nil:
			return m.current, nil, err
		case len(m.logs) == 1:
			return 0, e, nil
		}
		turn, ok, err := turnOf(e)
		if err != nil {
			return m.current, nil, err
		}
		if !ok {
			return m.current, e, nil
		}
		l.turn = turn
		if err := m.nextTurn(); err != nil {
			return 0, nil, err
		}
	}
}
