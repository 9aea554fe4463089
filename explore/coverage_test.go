package explore_test

import (
	"context"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
)

// A coveringMachine runs one more point of the kernel's code for each digit of a file's name.
type coveringMachine struct{ explore.System }

func (m coveringMachine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	done, err := m.System.Do(ctx, b)
	if b.Cover {
		done.Coverage = &agent.Coverage{Edges: []agent.Edge{agent.EdgeOf(0, 0x10)}}
		for _, op := range b.Ops {
			_, _, texts, _ := op.Fields()
			at := uint64(0x10 + 4*strings.Count(texts[0], "0"))
			done.Coverage.Edges = append(done.Coverage.Edges, agent.EdgeOf(0x10, at))
		}
	}
	return done, err
}

// A naming checker counts as counting does, and has no features. It names a file after its count.
type naming struct{ counting }

func (c *naming) Mutate(e *explore.Env) error {
	err := c.counting.Mutate(e)
	if err == nil {
		_, err = e.Try(agent.Stat(strings.Repeat("0", int(c.n[0]))))
	}
	return err
}

func (c *naming) Features() []string { return nil }

// TestCoverageGuides checks that LeastSeen prefers states whose last step ran code that no step ran
// before, and that the summary has the edges, their growth and the source files.
func TestCoverageGuides(t *testing.T) {
	code, err := explore.ReadCodeMap(strings.NewReader(
		"ffffffff00000014 ffffffff00000020 3 fs/b.c\nffffffff00000010 ffffffff00000014 1 fs/a.c\n" +
			"ffffffff00001000 ffffffff00001010 9 fs/never.c\n"))
	if err != nil {
		t.Fatal(err)
	}
	explored := func(covering bool) (explore.Summary, []string) {
		cfg := toy(t, "", 1, 1)
		cfg.Stack.Checker = new(naming)
		cfg.Strategy, cfg.Depth, cfg.Code = explore.LeastSeen, 12, code
		if covering {
			cfg.System = coveringMachine{cfg.System}
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var said []string
		cfg.OnEvent = func(e explore.Event) {
			switch e.Event {
			case "error":
				stop()
			case "coverage":
				said = append(said, e.Text)
			}
		}
		sum, err := explore.Run(ctx, cfg)
		if err != nil || len(sum.Errors) != 1 {
			t.Fatalf("covering %v: %+v, %v", covering, sum, err)
		}
		return sum, said
	}
	without, said := explored(false)
	if len(said) != 1 || without.Edges != 0 || without.Coverage != nil {
		t.Errorf("without coverage it says %q, and has %d edges", said, without.Edges)
	}
	with, said := explored(true)
	if len(said) > 0 {
		t.Errorf("with coverage it says %q", said)
	}
	t.Logf("%d runs without coverage, %d with it", without.Runs, with.Runs)
	if with.Runs >= without.Runs {
		t.Errorf("%d runs without coverage, %d with it", without.Runs, with.Runs)
	}
	c := with.Coverage
	if c == nil || with.Edges < 9 || c.Growth[len(c.Growth)-1].Edges != with.Edges {
		t.Fatalf("%d edges, coverage %+v", with.Edges, c)
	}
	want := []explore.FileCover{{Path: "fs/a.c", Reached: 1, Points: 1},
		{Path: "fs/b.c", Reached: 3, Points: 3}}
	if len(c.Files) != 2 || c.Files[0] != want[0] || c.Files[1] != want[1] {
		t.Errorf("files %+v, want %+v", c.Files, want)
	}
}

// TestCodeMapErrors checks that ReadCodeMap refuses a text that is no code map.
func TestCodeMapErrors(t *testing.T) {
	for _, text := range []string{"x", "10 20 fs/a.c", "20 10 1 fs/a.c", "\n"} {
		if m, err := explore.ReadCodeMap(strings.NewReader(text)); err == nil {
			t.Errorf("%q gives %+v", text, m)
		}
	}
}
