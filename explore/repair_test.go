package explore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// twoWays is a journaled that can be recovered in a second way, and shows its two places as files.
type twoWays struct {
	*journaled
	second func() error // nil: there is none
	looks  int          // at the tree
}

func (w *twoWays) Repairs() bool             { return w.second != nil }
func (w *twoWays) Repair(*explore.Env) error { return w.second() }

// tree is what is mounted. What no recovery promises is another each time.
func (w *twoWays) tree() []agent.Entry {
	w.looks++
	out := []agent.Entry{{Path: ".", Mode: unix.S_IFDIR | 0o755, Links: 2, Size: uint64(w.looks), Mtime: int64(w.looks)}}
	for i := range uint64(2) {
		b, err := w.s.Read(0, places+8*i)
		if err != nil || b[0] == 0 {
			continue
		}
		out = append(out, agent.Entry{Path: fmt.Sprintf("place%d", i), Mode: unix.S_IFREG | 0o644, Links: 1, Size: 512, Sum: [32]byte{b[0]}, Inode: uint64(w.looks)})
	}
	return out
}

// A recovery that looks at everything has to come to what the quick one does: if it fails, loses or
// alters something that is an error, which replays; what no recovery promises may differ. It is not
// run where that is not asked.
func TestTwoRecoveries(t *testing.T) {
	errUnsound := errors.New("cannot be repaired")
	for _, c := range []struct {
		name, want, text string
		notAsked         bool
		second           func(j *journaled) error
	}{
		{name: "there is none"},
		{name: "the same", second: (*journaled).recover},
		{name: "it fails", want: "recovery failed", text: errUnsound.Error(), second: func(*journaled) error { return errUnsound }},
		{name: "it loses", want: "recoveries differ",
			text: "place1: after the quick recovery, it has mode 0100644, 1 links, owner 0:0, " +
				"512 bytes with SHA-256 07000000…; after the thorough one, it does not exist",
			second: func(j *journaled) error { return errors.Join(j.recover(), j.write(places+8, 0)) }},
		{name: "it alters", want: "recoveries differ", text: "SHA-256 08000000…", second: func(j *journaled) error { return errors.Join(j.recover(), j.write(places, 8)) }},
		{name: "it is not asked for", notAsked: true, second: func(*journaled) error { return errUnsound }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, j := journal(t)
			w := &twoWays{journaled: j}
			if c.second != nil {
				w.second = func() error { return c.second(j) }
			}
			perform := j.s.Perform
			j.s.Perform = func(s *exploretest.System, op agent.Op) agent.Result {
				if op.Code == agent.Tree("").Code {
					return agent.Result{Data: agent.EncodeTree(w.tree())}
				}
				return perform(s, op)
			}
			cfg.Stack = explore.Stack{Top: w, Checker: pair{journaled: j}}
			cfg.Verify = !c.notAsked
			got, sum := kinds(t, cfg)
			if strings.Join(got, " ") != c.want {
				t.Fatalf("found %q, not %q", got, c.want)
			}
			if asked := w.looks > 0; asked != (cfg.Verify && c.second != nil) {
				t.Errorf("the tree was read %d times", w.looks)
			}
			if c.want == "" {
				return
			}
			e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
			if err != nil || e.Property != explore.Recovered || !strings.Contains(e.Summary, c.text) {
				t.Errorf("%+v, %v", e, err)
			}
			if f, err := explore.Replay(context.Background(), cfg, e); err != nil || f == nil || f.Kind != c.want {
				t.Errorf("replayed: %v, %v", f, err)
			}
		})
	}
}
