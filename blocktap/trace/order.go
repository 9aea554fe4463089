package trace

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// The logs of several disks are put in order by marks: whenever the next entry goes to another log than the
// last, a mark before it there counts the turn, from 1. Each log is one of its disk alone to whoever does not
// know of this.
const turnMark = "fsward turn "

// order is what the writers of logs that are written together share.
type order struct {
	mu   sync.Mutex
	logs int
	turn uint64
	last *Writer // whose turn it is
}

// Together makes the logs ones of disks whose writes have one order, so that Merge can find it again. It is
// called before anything is recorded.
func Together(logs ...*Writer) {
	o := &order{logs: len(logs)}
	for _, l := range logs {
		l.order = o
	}
}

// takeTurn marks that the next entry goes to this log. The order is locked.
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

// Merged reads the logs of several disks in the order in which they were written. Used by one goroutine.
type Merged struct {
	logs []mergedLog
	at   int    // whose turn it is
	turn uint64 // which is this
}

type mergedLog struct {
	*Reader
	turn uint64 // its next one; 0: none
}

// Merge reads logs that were written Together, all of them; or one log, of any origin.
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
		case errors.Is(err, io.EOF): // nothing was written to this disk
		case err != nil:
			return nil, fmt.Errorf("log %d: %w", i+1, err)
		default:
			turn, ok, err := turnOf(e)
			if err != nil {
				return nil, fmt.Errorf("log %d: %w", i+1, err)
			}
			if !ok {
				return nil, fmt.Errorf("log %d: %w", i+1, e.bad("nothing says when it was written: only logs that fsward has recorded together can be put in order"))
			}
			m.logs[i].turn = turn
		}
	}
	return m, m.pass()
}

// turnOf returns the number in an entry that marks a turn.
func turnOf(e *Entry) (turn uint64, ok bool, err error) {
	text, ok := strings.CutPrefix(e.Mark, turnMark)
	if !ok {
		return 0, false, nil
	}
	if turn, err = strconv.ParseUint(text, 10, 64); err != nil || turn == 0 {
		return 0, false, e.bad("the mark %q does not count a turn", e.Mark)
	}
	return turn, true, nil
}

// pass gives the turn to the log whose number is next. At the end of all logs there is none, and that is no
// error.
func (m *Merged) pass() error {
	left := uint64(0)
	for i := range m.logs {
		switch turn := m.logs[i].turn; {
		case turn == m.turn+1:
			m.at, m.turn, m.logs[i].turn = i, turn, 0
			return nil
		case turn != 0:
			left = turn
		}
	}
	m.at = -1
	if left != 0 {
		return fmt.Errorf("write logs: turn %d is in none of them, and turn %d is: a log is cut off, is missing, or is not of the same recording", m.turn+1, left)
	}
	return nil
}

// Next returns the next entry, or a piece of one, and the number of its log, from 0. The end of all logs is
// io.EOF; other errors are those of Reader.Next, or tell that the logs are not whole.
func (m *Merged) Next() (log int, e *Entry, err error) {
	for {
		if m.at < 0 {
			return 0, nil, io.EOF
		}
		l := &m.logs[m.at]
		e, err := l.Next()
		switch {
		case errors.Is(err, io.EOF) && len(m.logs) > 1:
			if err := m.pass(); err != nil {
				return 0, nil, err
			}
			continue
		case err != nil:
			return m.at, nil, err
		case len(m.logs) == 1:
			return 0, e, nil
		}
		turn, ok, err := turnOf(e)
		if err != nil {
			return m.at, nil, err
		}
		if !ok {
			return m.at, e, nil
		}
		l.turn = turn
		if err := m.pass(); err != nil {
			return 0, nil, err
		}
	}
}
