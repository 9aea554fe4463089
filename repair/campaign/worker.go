package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/linux"
	"fsward/repair/sandbox"
	"fsward/repair/testimage"
)

// imageName is the name of the image in a sandbox.
const imageName = "disk.img"

// spare is what a program may write beyond the size of the image: an image that grows is a
// failure, and a second file may stand beside the image.
const spare = 64 << 20

// A worker runs a program on damaged copies of an image, one after the other.
type worker struct {
	program *adapter.Program
	base    *testimage.Image
	box     *sandbox.Box
	checks  *checks
	image   *os.File // the copy in the sandbox
	linux   *linux.Machine
	damage  damage.Damage // that is tried, for checks of its field
	own     ownImage      // the image of a suite that is the base; zero: the campaign's
	// again makes try repeat the costly checks of a repair whose messages were seen before.
	again bool
	// only is the check to which again applies; "": all. The other costly ones are not made then.
	only string
	// target is the failure that again is to show; nil: any.
	target *Failure
	// share is the part of the campaign's time in which one finding is minimized, and that in which
	// it is replayed; 0: no bound.
	share     time.Duration
	postponed []postponed
	// late reports that the time for replays of findings is up.
	late func() bool
	// ended reports that no program is to run any more; nil: nobody asks for that.
	ended func() error
	// states counts the crash states that were repaired.
	states *atomic.Uint64
}

func newWorker(p *adapter.Program, base *testimage.Image, c *checks) (*worker, error) {
	// The images of a suite have sizes of their own.
	box, err := sandbox.Start(sandbox.Config{WorkBytes: 2*max(base.Size(), maxSuite) + spare})
	if err != nil {
		return nil, err
	}
	return &worker{program: p, base: base, box: box, checks: c, states: &atomic.Uint64{},
		late: func() bool { return false }}, nil
}

func (w *worker) close() error {
	err := w.own.close()
	if w.image != nil {
		err = errors.Join(err, w.image.Close())
	}
	if w.linux != nil {
		err = errors.Join(err, w.linux.Close())
	}
	return errors.Join(err, w.box.Close())
}

// aim makes trials repeat a failure, and the check that found it. They do so until aim(nil).
func (w *worker) aim(f *Failure) {
	w.again, w.only, w.target = f != nil, "", f
	if f != nil {
		w.only = f.Check
	}
}

// reset makes the image in the sandbox the base with patches. No other file is left there.
func (w *worker) reset(patches []interp.Patch) error {
	if err := w.clear(); err != nil {
		return err
	}
	if err := w.base.CopyTo(w.image); err != nil {
		return err
	}
	for _, p := range patches {
		if _, err := w.image.WriteAt(p.Data, int64(p.Off)); err != nil {
			return err
		}
	}
	return nil
}

// clear opens the image, and removes what a program left beside it or in its place.
func (w *worker) clear() error {
	dir := w.box.Path("")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	kept := false
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Name() == imageName && w.image != nil {
			now, err := os.Lstat(path)
			was, werr := w.image.Stat()
			if kept = err == nil && werr == nil && os.SameFile(now, was); kept {
				continue
			}
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if kept {
		return nil
	}
	if w.image != nil {
		_ = w.image.Close() // the file was replaced, and nothing of it is needed
	}
	w.image, err = os.OpenFile(filepath.Join(dir, imageName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// run runs the program in a mode on the image as it is.
func (w *worker) run(m *adapter.Mode) (*Run, error) {
	return w.runIn(w.box, m, imageName, undoName)
}

// runIn runs the program in a sandbox, on the image and the undo file with names.
func (w *worker) runIn(box *sandbox.Box, m *adapter.Mode, image, undo string) (*Run, error) {
	argv := m.Argv(filepath.Join(sandbox.Work, image), filepath.Join(sandbox.Work, undo))
	b := w.program.Bounds
	if err := w.hasEnded(); err != nil {
		return nil, err
	}
	got, err := box.Run(sandbox.Command{Argv: argv, Env: w.program.Env(),
		Input: cmp.Or(m.Input, w.program.Input), Time: b.Time,
		MemoryBytes: b.Memory, FileBytes: w.base.Size() + spare, OutputBytes: b.Output})
	if err = errors.Join(err, w.hasEnded()); err != nil {
		return nil, err
	}
	r := &Run{Mode: m.Name, Argv: argv, Result: got}
	if r.Signal == "" && !r.TimedOut && !r.Flooded {
		r.Outcome = w.program.Outcome(m, r.Status, r.Output)
	}
	return r, nil
}

// hasEnded returns the error of ended.
func (w *worker) hasEnded() error {
	if w.ended == nil {
		return nil
	}
	return w.ended()
}

// hash returns a hash of the image as it is, without the bytes in which a program notes its runs.
func (w *worker) hash(notes ...adapter.Note) (uint64, error) {
	st, err := w.image.Stat()
	if err != nil {
		return 0, err
	}
	h, at := xxhash.New(), int64(0)
	for _, n := range append(slices.Clone(notes), adapter.Note{Off: st.Size()}) { // in order
		if n.Off > at {
			if _, err = io.Copy(h, io.NewSectionReader(w.image, at, n.Off-at)); err != nil {
				return 0, err
			}
		}
		at = n.Off + n.Len
	}
	return h.Sum64(), err
}

// contents returns the image as it is. A program may have cut it off, or made it longer.
func (w *worker) contents() (*testimage.Image, error) {
	m, err := testimage.Open(filepath.Join(w.box.Path(""), imageName))
	if err != nil {
		return nil, fmt.Errorf("the image after a run: %w", err)
	}
	return m, nil
}

// endLinux ends a kernel that is of no use any more.
func (w *worker) endLinux() {
	_ = w.linux.Close() // it ended already, or is killed
	w.linux = nil
}
