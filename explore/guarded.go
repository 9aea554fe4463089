package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Guard watches what a run does to the guarded disks of a stack, as if it stood between the machine and them: it is given what each held
// when it was pristine (an image), and what was written to it since (a dm-log-writes log), and says what it would have refused first; nil: nothing.
type Guard func(ctx context.Context, disks []Recorded) (*Found, error)

// Recorded is a disk with what was written to it: paths of files.
type Recorded struct{ Name, Base, Log string }

// guarding is a Guard, and the files that it is given.
type guarding struct {
	guard Guard
	dir   string
}

// guardDisks has the guarded disks of the stack watched, if there are any.
func (s *session) guardDisks(guard Guard) error {
	var guarded []int
	for i, d := range s.disks {
		if d.Guarded {
			guarded = append(guarded, i)
		}
	}
	if len(guarded) == 0 {
		return nil
	}
	if guard == nil {
		return errors.New("disks of the stack are to be guarded, and there is no guard")
	}
	dir, err := os.MkdirTemp("", "fsward-guarded-")
	if err != nil {
		return err
	}
	s.guarding = &guarding{guard, dir}
	for _, i := range guarded {
		if err := os.WriteFile(s.guarding.base(s.disks[i]), s.bases[i], 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarding) base(d *Disk) string {
	return filepath.Join(g.dir, fmt.Sprintf("disk%d.base", d.Number))
}

// refused is what the guard of the disks would have refused of a run.
func (s *session) refused(ctx context.Context, r *ran) (*Found, error) {
	for _, d := range s.disks { // a log is not written over
		if err := os.Remove(filepath.Join(s.guarding.dir, logName(d))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if err := s.writeLogs(s.guarding.dir, r.records); err != nil {
		return nil, err
	}
	var list []Recorded
	for _, d := range s.disks {
		if d.Guarded {
			list = append(list, Recorded{d.Path(), s.guarding.base(d), filepath.Join(s.guarding.dir, logName(d))})
		}
	}
	return s.guarding.guard(ctx, list)
}
