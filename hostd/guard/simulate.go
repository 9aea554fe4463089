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
	disk interp.Disk // of the file system; nil if follow sets layout
	own  int         // the number of the disk in layout

	mu      sync.Mutex
	layout  *detect.Volumes // the volumes of the guest's disks
	alterer interp.Alterer  // nil while no bug is armed
	start   uint64          // where the alterer's disk begins in the addresses of writes
	done    string          // describes the change in the running transaction
}

// NewSimulator returns a Simulator for a disk, or for the disks of one file system.
func NewSimulator(d interp.Disk) *Simulator { return &Simulator{disk: d} }

// follow gives the Simulator the volumes among which it finds a file system, and their addresses.
func (s *Simulator) follow(layout *detect.Volumes) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.layout = layout
}

// volumes returns what follow set.
func (s *Simulator) volumes() *detect.Volumes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.layout
}

// Arm arms a bug in the first file system on the disk: the next commit that writes the field of
// spec carries it.
func (s *Simulator) Arm(spec string) error {
	layout := s.volumes()
	if layout == nil {
		return s.arm(s.disk, 0, detect.Auto, spec)
	}
	for _, i := range layout.Numbers() {
		if state := layout.State(i); state.Disk == s.own && state.FS != "" {
			return s.ArmVolume(state.Path, spec)
		}
	}
	return fmt.Errorf("cannot simulate %q: %w", spec, interp.ErrNotFound)
}

// ArmVolume arms a bug in the file system on a volume of the disk: "p2", "vg/lv".
func (s *Simulator) ArmVolume(path, spec string) error {
	layout := s.volumes()
	for _, i := range layout.Numbers() {
		state := layout.State(i)
		if state.Disk != s.own || state.Path != path {
			continue
		}
		d, start := layout.FileSystem(i)
		return s.arm(d, start, state.FS, spec)
	}
	return fmt.Errorf("cannot simulate %q: the disk has no volume %q", spec, path)
}

func (s *Simulator) arm(d interp.Disk, start uint64, fs, spec string) error {
	a, err := detect.Alterer(d, fs, spec)
	if err != nil {
		return fmt.Errorf("cannot simulate %q: %w", spec, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alterer, s.start, s.done = a, start, ""
	return nil
}

// Done describes the change that the bug made; "" if it has made none.
func (s *Simulator) Done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// alter changes the write in place if a bug is armed and the write has its field. The write has an
// address among the volumes of layout, if that is set.
func (s *Simulator) alter(w interp.Write, log *zap.Logger) {
	if s == nil || w.Data == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alterer == nil {
		return
	}
	if w.Off < s.start {
		return // of another volume
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
