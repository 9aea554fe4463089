package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/repair/damage"
	"fsward/repair/testimage"
)

// rules judge a whole image by fsward's interpreter and rules.
type rules struct {
	mu    sync.Mutex
	fs    string
	rules *guard.Rules
}

// newRules loads the rules of a file system. It returns nil if fsward does not interpret it. The
// image without damage must hold.
func newRules(fs string, base *testimage.Image) (*rules, error) {
	name := damage.Interpreter(fs)
	if detect.Schema(name) == nil {
		return nil, nil
	}
	loaded, err := guard.RulesConfig{}.Load()
	if err != nil {
		return nil, err
	}
	r := &rules{fs: name, rules: loaded}
	ev, err := r.judge(base)
	if err != nil {
		return nil, err
	}
	if ev.Outcome != change.Holds {
		return nil, fmt.Errorf("the image without damage violates fsward's rules: %v", ruleNames(ev))
	}
	return r, nil
}

// judge checks an image.
func (r *rules) judge(image *testimage.Image) (*guard.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, obs, err := detect.ImageWith(image, r.fs, interp.ImageOptions{})
	if err != nil {
		return nil, err
	}
	return guard.CheckImage(context.Background(), r.rules, r.fs, obs, 0,
		func(int) string { return imageName }), nil
}

func ruleNames(ev *guard.Event) (names []string) {
	for _, v := range ev.Violations {
		if !slices.Contains(names, v.Rule) {
			names = append(names, v.Rule)
		}
	}
	slices.Sort(names)
	return names
}

// compareRules compares the claim of a clean file system with fsward's own rules.
func (w *worker) compareRules(t *trial) error {
	if w.checks.rules == nil {
		return nil
	}
	now, err := w.contents()
	if err != nil {
		return err
	}
	defer now.Close()
	f := Failure{Kind: Rules, Run: len(t.runs)}
	ev, err := w.checks.rules.judge(now)
	var unsupported *interp.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		return nil // a repair may turn on a feature that fsward does not know
	case err != nil:
		f.Messages = messages(w.program, []byte(err.Error()))
		f.Detail = "fsward cannot read it: " + err.Error()
	case ev.Outcome == change.Violated:
		f.Messages = ruleNames(ev)
		f.Detail = "violated: " + strings.Join(f.Messages, ", ")
		if d := ev.Violations[0]; d.Detail != "" {
			f.Detail += ": " + d.Detail
		} else {
			f.Detail += ": " + d.Doc
		}
	default:
		return nil
	}
	t.add(f)
	return nil
}
