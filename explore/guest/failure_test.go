package guest

import (
	"fmt"
	"testing"
)

// TestTail checks that a tail keeps the last lines, and reports the first line of a panic once.
func TestTail(t *testing.T) {
	c := newTail()
	for i := range 3 * tailLines {
		c.add(fmt.Sprint(i))
	}
	c.add("[ 1.0] Kernel panic - not syncing: why")
	c.add("[ 1.1] ---[ end Kernel panic - not syncing: why ]---")
	if got := c.last(); len(got) != tailLines || got[0] != fmt.Sprint(2*tailLines+2) {
		t.Errorf("%d lines, the first is %q", len(got), got[0])
	}
	if line := <-c.panics; line != "[ 1.0] Kernel panic - not syncing: why" {
		t.Errorf("the panic is %q", line)
	}
	select {
	case line := <-c.panics:
		t.Errorf("the panic is reported twice: %q", line)
	default:
	}
	c.add("Kernel panic - not syncing: again")
	c.clear()
	if len(c.last()) != 0 || len(c.panics) != 0 {
		t.Error("clear leaves lines or a panic")
	}
}
