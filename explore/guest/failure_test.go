package guest

import (
	"fmt"
	"testing"
)

// The last lines are kept, and the first line of a panic is told once.
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
		t.Errorf("another panic, %q", line)
	default:
	}
	c.add("Kernel panic - not syncing: again")
	c.clear()
	if len(c.last()) != 0 || len(c.panics) != 0 {
		t.Error("something is left of before")
	}
}
