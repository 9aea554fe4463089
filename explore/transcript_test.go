package explore

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A usingChecker reads the tree, removes a file, and reads the tree again.
type usingChecker struct {
	Checker
	removes string
	command bool // run a command after that
}

func (c usingChecker) Check(e *Env, _ Crash) error {
	if _, err := e.Do(agent.Tree("/mnt")); err != nil {
		return err
	}
	if _, err := e.Do(agent.Unlink(c.removes), agent.Tree("/mnt")); err != nil {
		return err
	}
	if !c.command {
		return nil
	}
	_, err := e.Run("true")
	return err
}

// A fewFiles is a System with the files "a" and "b". Removing another one fails.
type fewFiles struct {
	System
	removed uint64
}

func (d *fewFiles) Do(_ context.Context, b agent.Batch) (done agent.Done, err error) {
	for _, o := range b.Ops {
		r := agent.Result{Value: d.removed}
		if o.Code == agent.Unlink("").Code {
			d.removed++
			if _, _, texts, _ := o.Fields(); texts[0] != "/mnt/a" && texts[0] != "/mnt/b" {
				r.Errno = unix.ENOENT
			}
		}
		done.Results = append(done.Results, r)
	}
	return done, nil
}

func (d *fewFiles) Run(context.Context, agent.Command) (agent.Exit, error) {
	return agent.Exit{}, nil
}

// TestSound checks from which answers of one recovered disk another crash state is checked, if the
// checker changes the disk.
func TestSound(t *testing.T) {
	told := func(c usingChecker) map[transcriptKey]agent.Result {
		ahead := (*readAhead)(nil).next(&fewFiles{}, "/mnt", nil)
		if _, err := ahead.Do(context.Background(), agent.Batch{
			Ops: []agent.Op{agent.Mount("d", "/mnt", "ext3", 0, "")}}); err != nil {
			t.Fatal(err)
		}
		on := &target{stack: Stack{Checker: c}, system: ahead}
		e := on.choosing(context.Background(), ahead, new(Chooser))
		e.windows.closed = true
		var failed *OpError
		if err := c.Check(e, Crash{}); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return ahead.told()
	}
	a, b, missing := usingChecker{removes: "/mnt/a"}, usingChecker{removes: "/mnt/b"},
		usingChecker{removes: "/mnt/c"}
	command := usingChecker{removes: "/mnt/a", command: true}
	for _, row := range []struct {
		name        string
		first, next usingChecker
		sound       bool
	}{
		{"the same", a, a, true},
		{"another change", a, b, false},
		{"a change that fails", missing, missing, false},
		{"less than before", command, a, false},
		{"a command", a, command, false},
	} {
		answers := told(row.first)
		if (len(answers) == 0) != row.first.command {
			t.Errorf("%s: %d answers", row.name, len(answers))
		}
		next := &target{stack: Stack{Checker: row.next}, system: &fewFiles{}}
		if got := next.sound(context.Background(), answers, nil, Crash{}); got != row.sound {
			t.Errorf("%s: sound is %t", row.name, got)
		}
	}
}

// TestTranscript checks that an answer is found only after the same changes.
func TestTranscript(t *testing.T) {
	tree, unlink := agent.Tree("/mnt"), agent.Unlink("/mnt/a")
	var first transcript
	first.add([]agent.Op{tree, unlink, tree, agent.Stat("/mnt/b")},
		[]agent.Result{{Value: 1}, {Value: 2}, {Value: 3}, {Errno: unix.EOVERFLOW}})
	next := transcript{answers: first.answers}
	for i, step := range []struct {
		op   agent.Op
		want uint64 // 0: not found
	}{{tree, 1}, {tree, 1}, {agent.Unlink("/mnt/b"), 0}, {unlink, 2}, {tree, 3},
		{agent.Stat("/mnt/b"), 0}, {unlink, 0}} {
		if r, ok := next.find(step.op); r.Value != step.want || ok != (step.want != 0) {
			t.Errorf("%d, %v: %+v, %t", i, step.op, r, ok)
		}
	}
}
