package campaign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/fieldmap"
	"fsward/repair/linux"
	"fsward/repair/testimage"
	"fsward/repair/tree"
)

// Names of checks. Consistency is always checked.
const (
	Consistency = "consistency"
	Harmless    = "harmless"
	Agree       = "agree"
	Interrupt   = "interrupted"
	Mount       = "mounts"
	Complete    = "completeness"
	Copy        = "copies"
)

// CheckNames lists the checks that a campaign can make.
func CheckNames() []string {
	return []string{Consistency, Harmless, Agree, Interrupt, Mount, Complete, Copy}
}

// checks are the questions that are asked about each damage, besides the second run.
type checks struct {
	fs    string
	agree bool
	rules *rules    // nil: fsward does not interpret the file system, or agree is not asked
	tree  tree.Tree // of the image without damage; nil: harmless is not asked
	// copies are the fields that stand in several copies; empty: they are not asked about.
	copies []*fieldmap.Copied
	// interrupt asks about repairs that a crash interrupts, once for each path.
	interrupt bool
	// view is what Linux finds on the image without damage; nil: it is not asked.
	view *linux.View
	// machine is the kernel that showed view, until a worker takes it.
	machine *linux.Machine
	mounts  bool
	// election compares the repair with those of other file systems; nil: it does not.
	election *election
	mu       sync.Mutex
	seen     map[string]bool // what was interrupted or shown to Linux, by path
}

// newChecks reads the names of checks, and what they need of the image without damage.
func newChecks(names []string, fs string, base *testimage.Image) (*checks, error) {
	c := &checks{fs: fs, seen: map[string]bool{}}
	var err error
	for _, n := range names {
		switch n {
		case Consistency:
		case Harmless:
			c.tree, err = tree.Read(base, fs)
		case Agree:
			c.agree = true
			c.rules, err = newRules(fs, base)
		case Copy:
			c.copies, err = newCopies(fs, base)
		case Interrupt:
			c.interrupt = true
		case Mount:
			c.mounts = true
			err = c.needView(base)
		case Complete:
			var truth map[string]string
			if truth, err = c.truth(base); err == nil {
				c.election, err = newElection(fs, base, truth)
			}
		default:
			err = fmt.Errorf("it is not one of %s", strings.Join(CheckNames(), ", "))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("check %s: %w", n, err), c.close())
		}
	}
	return c, nil
}

// whole lists the checks that compare with the image before the damage.
func (c *checks) whole() (names []string) {
	if c.tree != nil {
		names = append(names, Harmless)
	}
	if c.election != nil {
		names = append(names, Complete)
	}
	if c.copies != nil {
		names = append(names, Copy)
	}
	return names
}

// needView shows the image without damage to Linux, once.
func (c *checks) needView(base *testimage.Image) (err error) {
	if c.view == nil {
		c.view, c.machine, err = newView(c.fs, base)
	}
	return err
}

// close ends what the checks have started.
func (c *checks) close() error {
	if c == nil {
		return nil
	}
	var err error
	if m := c.takeMachine(); m != nil {
		err = m.Close()
	}
	if c.election != nil {
		err = errors.Join(err, c.election.close())
	}
	return err
}

// takeMachine returns the kernel that showed the view, to the first who asks: a kernel takes a
// second to boot.
func (c *checks) takeMachine() *linux.Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.machine
	c.machine = nil
	return m
}

// ask runs the program's check on the damaged image. It must leave the image as it is. What it
// says is compared with what the repair says.
func (w *worker) ask(t *trial) error {
	if w.program.Check == nil {
		return nil
	}
	notes := w.program.Check.Notes
	before, err := w.hash(notes...)
	if err != nil {
		return err
	}
	if _, err := w.next(t, w.program.Check); err != nil || len(t.failures) > 0 {
		return err
	}
	after, err := w.hash(notes...)
	if err == nil && before != after {
		t.fail(w.program, Disagree, "a run that only checks changed the image")
	}
	return err
}

// compareModes compares the claims of a check and of a repair of the same image.
func (w *worker) compareModes(t *trial, m *adapter.Mode) {
	if n := len(t.runs); w.checks.agree && n >= 2 {
		check, repaired := t.runs[n-2], t.runs[n-1]
		// Where a repair is followed by a check, its own claim does not tell consistent from corrected.
		vague := repaired.Outcome == repair.Corrected && w.program.Second(m) != m
		if !vague && !check.Outcome.Agrees(repaired.Outcome) {
			t.fail(w.program, Disagree, fmt.Sprintf("%s claims %s, and %s claims %s of the same image",
				check.Mode, check.Outcome, repaired.Mode, repaired.Outcome))
		}
	}
}

// maxLosses bounds the losses that a failure names.
const maxLosses = 5

// compareTrees compares the files before the damage with those after a run that claims a clean
// file system.
func (w *worker) compareTrees(t *trial) error {
	if w.checks.tree == nil || !t.runs[len(t.runs)-1].Outcome.Clean() {
		return nil
	}
	now, err := w.contents()
	if err != nil {
		return err
	}
	defer now.Close()
	after, err := tree.Read(now, w.checks.fs)
	if err != nil {
		t.add(Failure{Kind: Lost, Run: len(t.runs), Messages: messages(w.program, []byte(err.Error())),
			Detail: "the program calls the file system clean, but its files cannot be read: " + err.Error()})
		return nil
	}
	losses := tree.Losses(w.checks.tree, after, t.patches)
	if len(losses) == 0 {
		return nil
	}
	var list, kinds []string
	for _, l := range losses {
		list = append(list, l.Path+" "+l.What)
		if k := string(numbers.ReplaceAll([]byte(l.What), []byte("N"))); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	text := strings.Join(list[:min(len(list), maxLosses)], ", ")
	if len(list) > maxLosses {
		text += fmt.Sprintf(", and %d more", len(list)-maxLosses)
	}
	slices.Sort(kinds)
	t.add(Failure{Kind: Lost, Run: len(t.runs), Messages: kinds,
		Detail: "the damage did not touch these files: " + text})
	return nil
}

// interrupts reports whether the repair of a trial is to be interrupted: it corrected something,
// and no repair with the same messages was interrupted before.
func (w *worker) interrupts(m *adapter.Mode, repaired *Run) bool {
	return w.checks.interrupt && w.repeats(Interrupt) && repaired.Outcome == repair.Corrected &&
		w.isNew(fmt.Sprintf("interrupt %x", pathOf(w.program, m, repaired)))
}

// mounts reports whether Linux is to mount the image: no damage of the same field that led to the
// same messages was shown to it before.
func (w *worker) mounts(m *adapter.Mode, repaired *Run) bool {
	return w.checks.mounts && w.repeats(Mount) &&
		w.isNew(fmt.Sprintf("mount %s %x", w.damage.Group, pathOf(w.program, m, repaired)))
}

// repeats reports whether a costly check is to be made: a trial that repeats a failure leaves out
// the costly checks that did not find it.
func (w *worker) repeats(check string) bool {
	return !w.again || w.only == "" || w.only == check
}

// isNew reports whether a costly check is to be made: for the first time, or again.
func (w *worker) isNew(what string) bool {
	c := w.checks
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen[what]
	c.seen[what] = true
	return w.again || !seen
}
