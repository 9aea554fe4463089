package explore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// A twoWays is a journaled component with a second way to recover. It shows its home sectors as
// files.
type twoWays struct {
	*journaled
	second func() error // the second way; nil: there is none
	looks  int          // how often the tree was read
}

func (w *twoWays) Repairs() bool             { return w.second != nil }
func (w *twoWays) Repair(*explore.Env) error { return w.second() }

// tree returns the mounted entries. Attributes that no recovery promises differ at each call.
func (w *twoWays) tree() []agent.Entry {
	w.looks++
	out := []agent.Entry{{Path: ".", Mode: unix.S_IFDIR | 0o755, Links: 2,
		Size: uint64(w.looks), Mtime: int64(w.looks)}}
	for i := range uint64(2) {
		b, err := w.s.Read(0, homes+8*i)
		if err != nil || b[0] == 0 {
			continue
		}
		out = append(out, agent.Entry{Path: fmt.Sprintf("file%d", i), Mode: unix.S_IFREG | 0o644,
			Links: 1, Size: 512, Sum: [32]byte{b[0]}, Inode: uint64(w.looks)})
	}
	return out
}

// TestTwoRecoveries checks that it is an error, which replays, if a thorough recovery fails, or
// loses or alters a file of the quick one. Attributes that no recovery promises may differ. Without
// Verify, the thorough recovery is not run.
func TestTwoRecoveries(t *testing.T) {
	errUnsound := errors.New("cannot be repaired")
	for _, c := range []struct {
		name, want, text string
		noVerify         bool
		second           func(j *journaled) error
	}{
		{name: "there is none"},
		{name: "the same", second: (*journaled).recover},
		{name: "it fails", want: "recovery failed", text: errUnsound.Error(),
			second: func(*journaled) error { return errUnsound }},
		{name: "it loses", want: "recoveries differ",
			text: "file1: after the quick recovery, it has mode 0100644, 1 links, owner 0:0, " +
				"512 bytes with SHA-256 07000000…; after the thorough one, it does not exist",
			second: func(j *journaled) error { return errors.Join(j.recover(), j.write(homes+8, 0)) }},
		{name: "it alters", want: "recoveries differ", text: "SHA-256 08000000…",
			second: func(j *journaled) error { return errors.Join(j.recover(), j.write(homes, 8)) }},
		{name: "without Verify", noVerify: true,
			second: func(*journaled) error { return errUnsound }},
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
			cfg.Verify = !c.noVerify
			got, sum := kinds(t, cfg)
			if strings.Join(got, " ") != c.want {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			if read := w.looks > 0; read != (cfg.Verify && c.second != nil) {
				t.Errorf("the tree was read %d times", w.looks)
			}
			if c.want == "" {
				return
			}
			e := readError(t, cfg, sum, 0)
			if e.Property != explore.Recovered || !strings.Contains(e.Summary, c.text) {
				t.Errorf("property %q, summary %q", e.Property, e.Summary)
			}
			if kind := replay(t, cfg, e); kind != c.want {
				t.Errorf("replay shows %q", kind)
			}
		})
	}
}
