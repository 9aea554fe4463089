package fsynccheck

import (
	"fmt"
	"sort"
)

// A ping went to the guest and came back: at guest time the host's was between two.
type ping struct{ sent, guest, heard int64 } // ns

// maxPings bounds how far back the guest's time is known: an hour, at four a second.
const maxPings = 1 << 14

// A clock turns times of the guest into those of the host. Nothing is assumed of how fast the guest's runs, nor that it never stands
// still while a guest is suspended: only that between two pings its distance from the host's stays between what it was at them.
type clock struct{ pings []ping }

// add takes a ping that came back. The guest's times must not fall.
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

// passed tells whether the guest's time t is before the last ping, so that the host's can be told.
func (c *clock) passed(t int64) bool {
	return len(c.pings) > 0 && t <= c.pings[len(c.pings)-1].guest
}

// bounds returns between which times of the host the guest's time t was; not ok if pings around it are not known.
func (c *clock) bounds(t int64) (from, to int64, ok bool) {
	i := sort.Search(len(c.pings), func(i int) bool { return c.pings[i].guest >= t })
	if i == 0 || i == len(c.pings) {
		return 0, 0, false
	}
	a, b := c.pings[i-1], c.pings[i]
	return t + min(a.sent-a.guest, b.sent-b.guest), t + max(a.heard-a.guest, b.heard-b.guest), true
}
