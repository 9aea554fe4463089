package explore

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestChooserTakesEachSequenceOnce checks that one call of the checker in figure 2 of EXPLODE has
// the thirteen children of figure 3.
func TestChooserTakesEachSequenceOnce(t *testing.T) {
	seen := make(map[string]bool)
	for c := new(Chooser); ; {
		switch c.Choose(4, "action") {
		case 0, 1:
			c.Choose(5, "name")
		case 3:
			c.Choose(2, "sync")
		}
		key := fmt.Sprint(Values(c.Taken()))
		if seen[key] {
			t.Errorf("%s was taken twice", key)
		}
		seen[key] = true
		if !c.Next() {
			break
		}
	}
	if len(seen) != 5+5+1+2 {
		t.Errorf("%d sequences, want 13: %v", len(seen), seen)
	}
}

// TestChooserKeepsWhatWasLoaded checks that Next leaves loaded values alone, and enumerates the
// choices after them.
func TestChooserKeepsWhatWasLoaded(t *testing.T) {
	var c Chooser
	c.Load([]uint32{2, 1})
	for want := uint32(0); ; want++ {
		got := []uint32{c.Choose(3, "a"), c.Choose(2, "b"), c.Choose(4, "c")}
		if !slices.Equal(got, []uint32{2, 1, want}) {
			t.Fatalf("got %v, want 2 1 %d", got, want)
		}
		if !c.Next() {
			if want != 3 {
				t.Errorf("the last value is %d, want 3", want)
			}
			return
		}
	}
}

func TestReplayDiverges(t *testing.T) {
	was := []Choice{{N: 3, Value: 2, Site: "a"}, {N: 2, Value: 1, Site: "b"}}
	for name, run := range map[string]func(c *Chooser){
		"bound": func(c *Chooser) { c.Choose(3, "a"); c.Choose(4, "b") },
		"site":  func(c *Chooser) { c.Choose(3, "a"); c.Choose(2, "x") },
		"short": func(c *Chooser) { c.Choose(3, "a") },
	} {
		var c Chooser
		c.Replay(was)
		run(&c)
		var d *DivergedError
		if !errors.As(c.Err(), &d) || d.At != 1 || d.Want != was[1] {
			t.Errorf("%s: %v", name, c.Err())
		}
	}
	var c Chooser
	c.Replay(was)
	if c.Choose(3, "a") != 2 || c.Choose(2, "b") != 1 || c.Choose(9, "more") != 0 || c.Err() != nil {
		t.Errorf("an equal run diverged: %v", c.Err())
	}
	c.Load([]uint32{7})
	if c.Choose(3, "a") != 0 || c.Err() == nil {
		t.Error("Choose accepted a loaded value of 7 of 3")
	}
}

func TestChooserHasAnEnd(t *testing.T) {
	var c Chooser
	for range maxChoices + 1 {
		c.Choose(2, "loop")
	}
	if c.Err() == nil {
		t.Errorf("no error after %d choices", maxChoices+1)
	}
}
