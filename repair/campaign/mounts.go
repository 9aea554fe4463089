package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/linux"
	"fsward/repair/testimage"
)

// newView shows the image without damage to Linux, which must mount and write it. It returns what
// the kernel finds, and the kernel.
func newView(fs string, base *testimage.Image) (v *linux.View, m *linux.Machine, err error) {
	if !slices.Contains(linux.FileSystems(), fs) {
		return nil, nil, fmt.Errorf("the kernel does not mount %s; it mounts %s", fs,
			strings.Join(linux.FileSystems(), ", "))
	}
	ctx := context.Background()
	if m, err = linux.Start(ctx, base.Size()); err != nil {
		return nil, nil, err
	}
	if err = m.Put(base); err == nil {
		v, err = m.Look(ctx, fs, true)
	}
	if err == nil && v.Problem != "" {
		err = fmt.Errorf("the image without damage: %s", v.Problem)
	}
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return v, m, nil
}

// A viewer shows a worker's images to Linux.
type viewer struct{ *worker }

// show lets Linux mount and write the image that the program called clean, and then lets the
// program look at it again.
func (w *viewer) show(t *trial, m *adapter.Mode) error {
	f := Failure{Kind: Mounts, Run: len(t.runs)}
	v, err := w.look(true)
	switch {
	case errors.Is(err, linux.ErrEnded):
		w.endLinux()
		f.Messages, f.Detail = []string{"the kernel ended"}, err.Error()
	case err != nil:
		return err
	case v == nil: // the program changed the size of the image
		return nil
	case v.Problem != "":
		f.Messages = messages(w.program, []byte(v.Problem))
		f.Detail = v.Problem
		if v.Where != "" {
			f.Detail += ": " + v.Where
		}
		if more := w.complaints(v); len(more) > 0 {
			f.Detail += ": " + more[0]
		}
	default:
		return w.afterLinux(t, m, v)
	}
	t.add(f)
	return nil
}

// look shows the image as it is to Linux, which also writes to it if write is set.
func (w *viewer) look(write bool) (*linux.View, error) {
	now, err := w.contents()
	if err != nil {
		return nil, err
	}
	defer now.Close()
	if now.Size() != w.base.Size() {
		return nil, nil
	}
	ctx := context.Background()
	if w.linux == nil {
		w.linux = w.checks.takeMachine()
	}
	if w.linux != nil && w.linux.Size() != now.Size() {
		w.endLinux()
	}
	if w.linux == nil {
		if w.linux, err = linux.Start(ctx, w.base.Size()); err != nil {
			return nil, err
		}
	}
	if err := w.linux.Put(now); err != nil {
		return nil, err
	}
	return w.linux.Look(ctx, w.checks.fs, write)
}

// afterLinux looks at what the kernel says and at the image that it wrote: the program must call it
// consistent, and the rules must hold.
func (w *viewer) afterLinux(t *trial, m *adapter.Mode, v *linux.View) error {
	if more := w.complaints(v); len(more) > 0 {
		t.add(Failure{Kind: Mounts, Run: len(t.runs), Detail: "the kernel complains: " + more[0],
			Messages: messages(w.program, []byte(strings.Join(more, "\n")))})
		return nil
	}
	if v.Full {
		return nil
	}
	wrote, err := testimage.Open(w.linux.Path())
	if err != nil {
		return err
	}
	defer wrote.Close()
	if err := wrote.CopyTo(w.image); err != nil {
		return err
	}
	earlier := len(t.failures)
	r, err := w.next(t, w.program.Second(m))
	if err != nil || len(t.failures) > earlier {
		return err
	}
	if r.Outcome != repair.Consistent {
		t.add(Failure{Kind: Mounts, Run: len(t.runs), Messages: messages(w.program, r.Output),
			Detail: fmt.Sprintf("after Linux wrote a file, the program claims %s", r.Outcome)})
		return nil
	}
	return w.compareRules(t)
}

// complaints returns what the kernel says of an image, and not of the one without damage.
func (w *viewer) complaints(v *linux.View) (more []string) {
	known := messages(w.program, []byte(strings.Join(w.checks.view.Complaints, "\n")))
	for _, c := range v.Complaints {
		if m := messages(w.program, []byte(c)); len(m) > 0 && !slices.Contains(known, m[0]) {
			more = append(more, c)
		}
	}
	return more
}
