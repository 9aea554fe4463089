package campaign

import (
	"context"

	"fsward/repair/adapter"
	"fsward/repair/damage"
)

// A postponed finding was saved with fewer replays than it should have, because other damages
// waited.
type postponed struct {
	finding Finding
	damage  damage.Damage
	mode    *adapter.Mode
}

// replayPostponed replays such findings of a worker, when it has no more damages to try, until it
// is late.
func (c *Campaign) replayPostponed(w *worker) error {
	idle, cancel := context.WithCancel(context.Background())
	cancel() // no damage waits any more
	for i := range w.postponed {
		p := &w.postponed[i]
		if w.late() {
			break
		}
		w.damage = p.damage
		if ok, err := w.use(c, &p.damage); !ok {
			return err
		}
		w.aim(&p.finding.Failure)
		err := w.confirm(idle, &p.finding, p.mode, c.Replays)
		w.aim(nil)
		if err == nil {
			err = p.finding.save(c.dir, w.base, c.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
