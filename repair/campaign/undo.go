package campaign

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"fsward/explore/crash"
	"fsward/interp"
	"fsward/repair/damage"
)

// undoName is the name of the undo file in a sandbox.
const undoName = "undo"

// undo repairs the damaged image once more with an undo file. The program that undoes must then
// give the damaged image back.
func (w *interrupter) undo(t *trial) error {
	u := w.program.Undo
	if err := w.reset(t.patches); err != nil {
		return err
	}
	before, err := w.hash()
	if err != nil {
		return err
	}
	size, err := w.image.Stat()
	if err != nil {
		return err
	}
	r, err := w.next(t, u.RepairMode())
	if err != nil || len(t.failures) > 0 {
		return err
	}
	if !r.Outcome.Clean() {
		return nil
	}
	back, err := w.next(t, u.UndoMode())
	if err != nil || len(t.failures) > 0 {
		return err
	}
	after, err := w.hash()
	if err != nil {
		return err
	}
	now, err := w.image.Stat()
	if err == nil && (!back.Outcome.Clean() || before != after || now.Size() != size.Size()) {
		t.add(Failure{Kind: Undo, Run: len(t.runs), Messages: messages(w.program, back.Output),
			Detail: fmt.Sprintf("undoing the repair claims %s, and the damaged image is %s", back.Outcome,
				map[bool]string{true: "there again", false: "not there again"}[before == after])})
	}
	return err
}

// crashUndo repairs the damaged image with an undo file, and crashes both together. Undoing must
// then give the damaged image back, but for the bytes in which the program notes that it ran.
func (w *interrupter) crashUndo(t *trial) error {
	u := w.program.Undo
	image := &damage.Patched{Disk: w.base, Patches: t.patches}
	log, err := w.record(image, u.RepairMode())
	if err != nil {
		return fmt.Errorf("recording a repair with an undo file: %w", err)
	}
	if err := w.reset(t.patches); err != nil {
		return err
	}
	before, err := w.hash()
	if err != nil {
		return err
	}
	noted, err := w.hash(u.Notes...)
	if err != nil {
		return err
	}
	failed := errors.New("a crash state failed")
	_, err = crash.Each(crash.Join(image, damage.Hole(maxUndo)), log.all,
		crash.Options{Limit: maxCrashStates}, func(s *crash.State) error {
			if w.late() {
				return errLate
			}
			what, err := w.undoAfter(t, s, before, noted)
			if err != nil || what == "" {
				return err
			}
			ofImage, ofUndo := log.lost(s)
			last := t.runs[len(t.runs)-1]
			f := Failure{Kind: Undo, Run: len(t.runs), Messages: messages(w.program, last.Output),
				Detail: fmt.Sprintf("after a crash at write %d that lost %d writes of the image and %d of "+
					"the undo file, undoing claims %s, and %s", s.At, ofImage, ofUndo, last.Outcome, what)}
			// A failure that was known when the target was found was left out then, too.
			if w.target != nil && !w.target.same(f) ||
				!w.isNew("undo "+strings.Join(f.Messages, "\n")) {
				t.runs = t.runs[:len(t.runs)-1]
				return nil
			}
			t.add(f)
			return failed
		})
	if t.cut = errors.Is(err, errLate); t.cut || errors.Is(err, failed) {
		return nil
	}
	return err
}

// undoAfter undoes a repair in a state that a crash left, if the image differs from the damaged
// one, whose hashes are given: of all bytes, and without notes. It returns what is wrong, or "".
// The run is then the last of the trial.
func (w *interrupter) undoAfter(t *trial, s *crash.State, before, noted uint64) (string, error) {
	w.states.Add(1)
	if err := w.reset(t.patches); err != nil {
		return "", err
	}
	if err := w.writeState(s, w.base.Size()); err != nil {
		return "", err
	}
	if now, err := w.hash(); err != nil || now == before {
		return "", err // nothing of the repair is on the disk
	}
	if err := w.writeUndo(s); err != nil {
		return "", err
	}
	u := w.program.Undo
	r, err := w.run(u.UndoMode())
	if err != nil {
		return "", err
	}
	after, err := w.hash(u.Notes...)
	if err != nil {
		return "", err
	}
	var what string
	switch kind := broken(w.program, r); {
	case kind != "":
		what = "it " + r.Ended()
	case after != noted:
		what = "the damaged image is not there again"
	case !r.Outcome.Clean():
		what = "the damaged image is there"
	default:
		return "", nil
	}
	t.runs = append(t.runs, r)
	return what, nil
}

// writeUndo makes the undo file what a crash left: up to the last page that it has of it.
func (w *interrupter) writeUndo(s *crash.State) error {
	f, err := os.OpenFile(w.box.Path(undoName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for addr, page := range s.Pages() {
		if disk, off := interp.Locate(addr); disk == 1 {
			if _, err := f.WriteAt(page, int64(off)); err != nil {
				return err
			}
		}
	}
	return nil
}
