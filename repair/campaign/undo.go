package campaign

import (
	"fmt"

	"fsward/repair/adapter"
)

// undoName is the name of the undo file in a sandbox.
const undoName = "undo"

// undo repairs the damaged image once more with an undo file. The program that undoes must then
// give the damaged image back.
func (w *worker) undo(t *trial) error {
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
	r, err := w.next(t, &adapter.Mode{Name: "with undo file", Run: u.Repair, Statuses: u.Statuses})
	if err != nil || len(t.failures) > 0 {
		return err
	}
	if !r.Outcome.Clean() {
		return nil
	}
	back, err := w.next(t, &adapter.Mode{Name: "undo", Run: u.Run, Statuses: u.Statuses})
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
