package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"fsward/blocktap/trace"
	"fsward/explore/audit"
	"fsward/hostd/recording"
)

var (
	errIdle = errors.New("nothing more is recorded yet")
	errLost = errors.New("the recording discarded entries before they were audited")
)

// source reads the segments of a recording that goes on, and its base.
//
// The recording makes the writes of the segments that it discards on the base. That does not
// disturb a reader that has all of these writes itself: see lost.
type source struct {
	cfg    *Config
	base   *os.File
	size   uint64
	log    *trace.Follower
	number int // of the segment that is read

	at     uint64   // position of the next entry
	starts []uint64 // position of the first entry of each segment, from the segment first on
	first  int

	performed performed
	ready     []*trace.Entry // that are performed, and not returned yet
	// settled is the first segment of which some write may not be known to be durable.
	settled int
}

// openSource opens a recording at the segment that its base is at. With an errLost it returns a
// source that is closed, and that says where it was.
func openSource(cfg *Config, at uint64, stop <-chan struct{}) (*source, error) {
	s := &source{cfg: cfg, at: at}
	if err := s.openFirst(stop); err != nil {
		return nil, err
	}
	s.first, s.settled, s.starts = s.number, s.number, []uint64{at}
	var err error
	if s.base, err = os.Open(cfg.Base); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	info, err := s.base.Stat()
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.size = uint64(info.Size())
	if err := s.lost(); err != nil {
		return s, errors.Join(err, s.close())
	}
	return s, nil
}

// openFirst opens the segment that the base is at. The recording may discard it meanwhile; the base
// is at a later one then.
func (s *source) openFirst(stop <-chan struct{}) error {
	for {
		state, err := recording.AbsorbedBy(s.cfg.Base)
		if err != nil {
			return err
		}
		if s.number = state.First; !state.Folding {
			if s.log, err = s.open(s.number); !errors.Is(err, errLost) {
				return err
			}
			if now, err := recording.AbsorbedBy(s.cfg.Base); err != nil || now == state {
				return errors.Join(err, fmt.Errorf("%s is missing, at which the base is",
					recording.Segment(s.cfg.Log, s.number)))
			}
		}
		select {
		case <-stop:
			return errIdle
		case <-time.After(s.cfg.Poll):
		}
	}
}

// open opens a segment. The recording may have made its file, and not written its superblock yet.
func (s *source) open(number int) (*trace.Follower, error) {
	for ended := false; ; {
		log, err := trace.Follow(recording.Segment(s.cfg.Log, number))
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		if ended || !errors.Is(err, io.ErrUnexpectedEOF) {
			return log, err
		}
		select {
		case <-s.cfg.Ended:
			ended = true // it may have been written meanwhile
		case <-time.After(s.cfg.Poll):
		}
	}
}

func (s *source) close() error { return errors.Join(s.log.Close(), s.base.Close()) }

// ReadAt reads from the base.
func (s *source) ReadAt(p []byte, off int64) (int, error) { return s.base.ReadAt(p, off) }

// Size returns the size of the base in bytes.
func (s *source) Size() uint64 { return s.size }

// lost returns errLost if what was read from the base may be wrong: the recording has made writes
// on it that the reader did not have. A write that is in flight has to be missing in some states,
// so the reader has the segments before settled only.
func (s *source) lost() error {
	state, err := recording.AbsorbedBy(s.cfg.Base)
	if err == nil && state.First > s.settled {
		err = errLost
	}
	return err
}

// next returns the next entry that was performed. It returns errIdle if there is none yet.
func (s *source) next() (*trace.Entry, error) {
	for len(s.ready) == 0 {
		_, err := os.Stat(recording.Segment(s.cfg.Log, s.number+1))
		complete := err == nil
		e, err := s.log.Next()
		switch {
		case err == nil:
			e.Index += s.starts[len(s.starts)-1]
			s.at = e.Index + 1
			if s.ready, err = s.performed.add(s.relative(e)); err != nil {
				return nil, err
			}
		case !errors.Is(err, io.EOF):
			return nil, err
		case complete:
			s.ready = s.performed.release() // a mark about a change is in the segment of the change
			if err := s.advance(); err != nil {
				return nil, err
			}
		default:
			return nil, errIdle
		}
	}
	e := s.ready[0]
	s.ready = s.ready[1:]
	return e, nil
}

// relative returns an entry whose mark, if it names entries, names positions.
func (s *source) relative(e *trace.Entry) *trace.Entry {
	first, end, undone, err := e.Undone()
	if err != nil || !undone {
		return e
	}
	start := s.starts[len(s.starts)-1]
	own := *e
	own.Mark = trace.UndoneMark(first+start, end+start)
	return &own
}

// advance begins the next segment.
func (s *source) advance() error {
	next, err := s.open(s.number + 1)
	if err != nil {
		return err
	}
	if err := s.log.Close(); err != nil {
		return errors.Join(err, next.Close())
	}
	s.log, s.number, s.starts = next, s.number+1, append(s.starts, s.at)
	return nil
}

// end returns what is held back when nothing more is recorded.
func (s *source) end() []*trace.Entry {
	out := slices.Concat(s.ready, s.performed.release())
	s.ready = nil
	return out
}

// place returns the segment and the entry of a position.
func (s *source) place(at uint64) audit.Place {
	i := len(s.starts) - 1
	for i > 0 && s.starts[i] > at {
		i--
	}
	return audit.Place{Log: recording.Segment(s.cfg.Log, s.first+i), Entry: at - s.starts[i]}
}

// behind returns the number of bytes that are recorded and not read.
func (s *source) behind() uint64 {
	n := s.log.Behind()
	for i := s.number + 1; ; i++ {
		info, err := os.Stat(recording.Segment(s.cfg.Log, i))
		if err != nil {
			return n
		}
		n += uint64(info.Size())
	}
}

// last returns the number of the last segment that exists.
func (s *source) last() int {
	n := s.number
	for {
		if _, err := os.Stat(recording.Segment(s.cfg.Log, n+1)); err != nil {
			return n
		}
		n++
	}
}
