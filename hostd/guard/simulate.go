package guard

import (
	"fmt"
	"sync"

	"go.uber.org/zap"

	"fsward/interp"
	"fsward/interp/detect"
)

// A Simulator simulates a bug in the guest's file system: on demand it changes one metadata field
// of a write between the guest and the checker. A nil Simulator does nothing.
type Simulator struct {
	disk  interp.Disk
	start uint64 // where the disk begins in the addresses of its writes

	mu      sync.Mutex
	alterer interp.Alterer // nil while no bug is armed
	done    string         // describes the change in the running transaction
}

// NewSimulator returns a Simulator for a disk, or for the disks of one file system.
func NewSimulator(d interp.Disk) *Simulator { return &Simulator{disk: d} }

// Arm arms a bug: the next commit that writes the field of spec carries it. The disk must hold a
// file system already.
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

// Done describes the change that the bug made; "" if it has made none.
func (s *Simulator) Done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// alter changes the write in place if a bug is armed and the write has its field.
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
		log.Info("simulated a bug in a write of the guest", zap.String("what", what))
	}
}

// settle disarms the bug after the commit that carried it.
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
