package fsynccheck

import (
	"fmt"
	"sort"
)

// A ping went to the guest and came back: the host's time was between sent and heard when the
// guest's time was guest.
type ping struct{ sent, guest, heard int64 } // ns

// maxPings bounds how far back the guest's time is known: an hour, at four pings a second.
const maxPings = 1 << 14

// A clock converts the guest's times to the host's. It does not assume how fast the guest's clock
// runs, nor that it runs while a guest is suspended. It assumes only that between two pings the
// offset to the host's clock stays between the offsets at these pings.
type clock struct{ pings []ping }

// add adds a ping that came back. The guest's times must not decrease.
func (c *clock) add(p ping) error {
	if n := len(c.pings); n > 0 && p.guest < c.pings[n-1].guest {
		return fmt.Errorf("the guest's clock went back from %d to %d", c.pings[n-1].guest, p.guest)
	}
	if len(c.pings) >= maxPings {
		c.pings = append(c.pings[:0], c.pings[maxPings/2:]...)
	}
	c.pings = append(c.pings, p)
	return nil
}

// passed reports whether the guest's time t is before the last ping, so that it can be converted.
func (c *clock) passed(t int64) bool {
	return len(c.pings) > 0 && t <= c.pings[len(c.pings)-1].guest
}

// bounds returns the host's times between which the guest's time t was. It is not ok if no pings
// before and after t are known.
func (c *clock) bounds(t int64) (from, to int64, ok bool) {
	i := sort.Search(len(c.pings), func(i int) bool { return c.pings[i].guest >= t })
	if i == 0 || i == len(c.pings) {
		return 0, 0, false
	}
	a, b := c.pings[i-1], c.pings[i]
	return t + min(a.sent-a.guest, b.sent-b.guest), t + max(a.heard-a.guest, b.heard-b.guest), true
}
