package guard

import (
	"fmt"
	"sync"

	"go.uber.org/zap"

	"fsward/interp"
	"fsward/interp/detect"
)

// A Simulator causes, on demand, what fsward is there to stop: it changes one metadata field between
// the guest and the checker, as a bug in the guest's file system would. A nil Simulator does nothing.
type Simulator struct {
	disk  interp.Disk
	start uint64 // where the disk begins in the addresses of the writes that are altered

	mu      sync.Mutex
	alterer interp.Alterer // nil while nothing is armed
	done    string         // what was changed in the running transaction
}

// NewSimulator returns a Simulator for a disk, or for the disks of one file system.
func NewSimulator(d interp.Disk) *Simulator { return &Simulator{disk: d} }

// Arm makes the next commit in which the field of spec is written carry the bug. The disk must hold a
// file system by then.
func (s *Simulator) Arm(spec string) error {
	a, err := detect.Alterer(s.disk, detect.Auto, spec)
	if err != nil {
		return fmt.Errorf("cannot simulate %q: %w", spec, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alterer, s.done = a, ""
	return nil
}

// Done returns what the bug changed, "" if nothing yet.
func (s *Simulator) Done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// alter changes the write in place if a bug is armed and this is where it strikes.
func (s *Simulator) alter(w interp.Write, log *zap.Logger) {
	if s == nil || w.Data == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alterer == nil {
		return
	}
	w.Off -= s.start
	if what := s.alterer.Alter(w); what != "" && s.done == "" {
		s.done = what
		log.Info("simulated bug: changed on its way from the guest", zap.String("what", what))
	}
}

// settle disarms after the commit that carried the bug.
func (s *Simulator) settle(p interp.Point) {
	if s == nil || p != interp.CommitPoint {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != "" {
		s.alterer = nil
	}
}
