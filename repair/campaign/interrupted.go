package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
	"fsward/blocktap/overlay"
	"fsward/explore/crash"
	"fsward/interp"
	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/growing"
	"fsward/repair/sandbox"
	"fsward/repair/tree"
)

// maxCrashStates bounds the crash states of one moment of a repair. Where there are more, they are
// sampled.
const maxCrashStates = 16

// errLate ends the crash states of one repair, which may be thousands, when the time is up.
var errLate = errors.New("the time is up")

// An interrupter interrupts a worker's repairs by crashes.
type interrupter struct{ *worker }

// Folders of the mounts in a sandbox that records: of the image, and of the undo file.
const (
	imageDir = "image"
	undoDir  = "undo"
)

// record runs a repair of a damaged image, which is served by FUSE, as is the undo file. It returns
// the writes of both.
func (w *interrupter) record(base interp.Disk, m *adapter.Mode) (log *writeLog, err error) {
	dir, err := os.MkdirTemp("", "fsward-repair-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, d := range []string{imageDir, undoDir} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	log = &writeLog{}
	// The server of the image keeps children from inheriting the connections of both.
	undo, err := growing.Mount(filepath.Join(dir, undoDir), maxUndo, &undoLog{log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, undo.Unmount()) }()
	disk, err := overlay.New(base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	server, err := fuse.Mount(filepath.Join(dir, imageDir),
		blocktap.NewDevice(disk, &imageLog{log: log}), zap.NewNop())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Unmount()) }()
	box, err := sandbox.Start(sandbox.Config{Folder: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	_, err = w.runIn(box, m, filepath.Join(imageDir, fuse.FileName),
		filepath.Join(undoDir, growing.FileName))
	return log, err
}

// interrupt repairs each disk that a crash during the repair can leave. Another repair must end
// clean. It must lose no file that the repair without a crash keeps, or give back all files that
// were there before the damage.
func (w *interrupter) interrupt(t *trial, m *adapter.Mode) error {
	whole, err := w.treeNow()
	if err != nil {
		return err
	}
	// A crash can undo the damage: a new root may get the block of the old one, and lose its content.
	original, err := tree.Read(w.base, w.checks.fs)
	if err != nil {
		original = nil // an image of a suite is damaged already
	}
	base := &damage.Patched{Disk: w.base, Patches: t.patches}
	log, err := w.record(base, m)
	if err != nil {
		return fmt.Errorf("recording a repair: %w", err)
	}
	failed := errors.New("a crash state failed")
	options := crash.Options{Limit: maxCrashStates}
	_, err = crash.Each(base, log.all, options, func(s *crash.State) error {
		if w.late() {
			return errLate
		}
		f, err := w.afterCrash(t, m, s, whole, original)
		if err == nil && f != nil {
			t.add(*f)
			err = failed
		}
		return err
	})
	t.cut = errors.Is(err, errLate)
	switch {
	case errors.Is(err, failed), t.cut:
		return nil
	case err != nil:
		return err
	}
	if w.program.Undo != nil {
		err := w.undo(t)
		if err == nil && len(t.failures) == 0 {
			err = w.crashUndo(t)
		}
		if err != nil || t.cut || len(t.failures) > 0 {
			return err
		}
	}
	return w.repaired(t.patches, m)
}

// repaired makes the image what two runs of the program leave of the damaged one.
func (w *interrupter) repaired(patches []interp.Patch, m *adapter.Mode) error {
	if err := w.reset(patches); err != nil {
		return err
	}
	_, err := w.run(m)
	if err == nil {
		_, err = w.run(w.program.Second(m))
	}
	return err
}

// afterCrash repairs one crash state twice. It returns a failure, or nil.
func (w *interrupter) afterCrash(t *trial, m *adapter.Mode, s *crash.State,
	whole, original tree.Tree) (*Failure, error) {
	w.states.Add(1)
	if err := w.reset(t.patches); err != nil {
		return nil, err
	}
	if err := w.writeState(s, w.base.Size()); err != nil {
		return nil, err
	}
	first, err := w.run(m)
	if err != nil {
		return nil, err
	}
	second, err := w.run(w.program.Second(m))
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("after a crash at write %d of the repair that lost writes %v: ", s.At,
		s.Missing())
	f := &Failure{Kind: Interrupted, Run: len(t.runs) + 2,
		Messages: messages(w.program, second.Output)}
	if !first.Outcome.Clean() || second.Outcome != repair.Consistent {
		f.Detail = what + fmt.Sprintf("the next runs claim %s and %s", first.Outcome, second.Outcome)
	} else if losses, err := w.lostSince(whole, original); err != nil {
		return nil, err
	} else if len(losses) > 0 {
		f.Messages = losses
		f.Detail = what + "the next repair ends clean, but " + strings.Join(losses, ", ")
	} else {
		return nil, nil
	}
	t.runs = append(t.runs, first, second)
	return f, nil
}

// writeState makes the damaged image, of a size in bytes, what a crash left.
func (w *worker) writeState(s *crash.State, size uint64) error {
	for addr, page := range s.Pages() {
		if disk, off := interp.Locate(addr); disk == 0 {
			page = page[:min(uint64(len(page)), size-off)]
			if _, err := w.image.WriteAt(page, int64(off)); err != nil {
				return err
			}
		}
	}
	return nil
}

// treeNow reads the tree of the image as it is. It is nil if fsward cannot read it.
func (w *interrupter) treeNow() (tree.Tree, error) {
	now, err := w.contents()
	if err != nil {
		return nil, err
	}
	defer now.Close()
	files, err := tree.Read(now, w.checks.fs)
	if err != nil {
		return nil, nil // the check harmless reports what cannot be read
	}
	return files, nil
}

// lostSince compares the tree of the image as it is with an earlier one. Nothing is lost if all
// files are as in the original tree.
func (w *interrupter) lostSince(whole, original tree.Tree) (list []string, err error) {
	now, err := w.treeNow()
	if err != nil || whole == nil || now == nil ||
		original != nil && len(tree.Losses(original, now, nil)) == 0 {
		return nil, err
	}
	for _, l := range tree.Losses(whole, now, nil) {
		if list = append(list, l.Path+" "+l.What); len(list) == maxLosses {
			break
		}
	}
	return list, nil
}
