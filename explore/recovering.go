package explore

import (
	"context"
	"errors"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
	"fsward/interp"
)

// A recovering tries crashes during the recoveries from the crash states of one execution. It
// remembers the recoveries.
type recovering struct {
	x   *explorer
	ctx context.Context
	all *crash.Recoveries
	of  crashCase // the crash state that is recovered

	choices *Chooser // of the recovery from that state
	chose   bool     // a recovery took choices, so that what it reads does not determine what it does
	checked bool     // the result of the last recovery was checked, and will be visited next
	bad     *badDisk
	wrote   uint64 // the most sectors that a recovery wrote
}

func newRecovering(ctx context.Context, x *explorer) *recovering {
	r := &recovering{x: x, ctx: ctx}
	r.begin(x.NoPrune)
	return r
}

// begin forgets all recoveries.
func (r *recovering) begin(noPrune bool) {
	states := r.x.Crash
	states.ByMark = false
	r.all = crash.NewRecoveries(r.recover, crash.RecoveryOptions{States: states, NoPrune: noPrune})
}

// check recovers a crash state and checks the result. It does the same with each crash state of a
// crash during that recovery. It returns the first failure, and the most sectors that a recovery
// wrote.
func (r *recovering) check(c crashCase, choices *Chooser) (*badDisk, uint64, error) {
	r.of, r.choices, r.checked, r.bad, r.wrote = c, choices, false, nil, 0
	was := r.all.Stats()
	err := r.all.Each(c.State, r.visit)
	now, t := r.all.Stats(), &r.x.totals
	t.Interrupted += uint64(now.States - was.States)
	t.Unread += uint64(now.Skipped - was.Skipped)
	t.Remembered += uint64(now.Known - was.Known)
	if errors.Is(err, errFailureFound) {
		err = nil
	}
	if len(choices.taken) > 0 && !r.chose {
		r.chose = true
		r.begin(true)
	}
	return r.bad, r.wrote, err
}

// recover recovers and checks a crash state, and returns what the recovery read and wrote. After a
// failure it sets r.bad, and returns errFailureFound. The recovery from a second crash takes all
// choices, and the result is that of the first.
func (r *recovering) recover(disk *crash.State) (done crash.Recovered, err error) {
	if err := r.x.stopped(); err != nil {
		return done, err
	}
	at := r.of
	if disk == at.State {
		found, logs, err := r.x.recover(r.ctx, disk, at.Crash, r.choices)
		return r.result(found, logs, at, r.choices, err)
	}
	at.second = disk
	for choices := new(Chooser); ; {
		first := len(choices.loaded) == 0
		found, logs, err := r.x.recover(r.ctx, disk, at.Crash, choices)
		result, err := r.result(found, logs, at, choices, err)
		if err != nil {
			return result, err
		}
		if first {
			done = result
		}
		if !choices.Next() {
			return done, nil
		}
	}
}

// result returns what a recovery read and wrote. If it showed a failure, result sets r.bad, and
// returns errFailureFound.
func (r *recovering) result(found *Failure, logs history, at crashCase,
	choices *Chooser, err error) (done crash.Recovered, _ error) {
	if err != nil {
		return done, err
	}
	r.checked, r.wrote = true, max(r.wrote, written(logs.records))
	if err := r.show(found, at, choices.Taken()); err != nil {
		return done, err
	}
	return r.x.session.disks.recoveredFrom(logs)
}

// show sets r.bad if a recovery showed a failure, and then returns errFailureFound. After a
// surprise, it goes on.
func (r *recovering) show(found *Failure, at crashCase, choices []Choice) error {
	switch {
	case found == nil:
	case !found.Surprise:
		r.bad = &badDisk{found, at, choices}
		return errFailureFound
	case r.bad == nil:
		r.bad = &badDisk{found, at, choices}
	}
	return nil
}

// visit checks the result of a recovery that was not run, since an earlier one read the same.
// second is the crash state that it starts from, and left is its result.
func (r *recovering) visit(second, left *crash.State) error {
	if r.checked {
		r.checked = false
		return nil
	}
	if err := r.x.stopped(); err != nil {
		return err
	}
	key, known := r.of.key()
	key += "recovered " + left.Contents().String()
	if known && r.x.memo.has(key) {
		return nil
	}
	found, _, err := r.x.recover(r.ctx, left, r.of.Crash, new(Chooser))
	if err != nil {
		return err
	}
	at := r.of
	at.second = second
	if err := r.show(found, at, nil); err != nil {
		return err
	}
	if known && found == nil {
		r.x.memo.add(key)
	}
	return nil
}

// recoveredFrom returns the pages that a recovery read, and the events of its writes
// and of the blocks that it marked dirty.
func (d *diskSet) recoveredFrom(logs history) (done crash.Recovered, err error) {
	for i, disk := range d.list {
		for _, r := range logs.records {
			if r.Disk != disk.Number || r.Type != ramdisk.Submit || r.Op != ramdisk.Read || r.Len == 0 {
				continue
			}
			from := interp.Address(i, r.Sector*ramdisk.SectorSize)
			for n := from / crash.PageSize; n <= (from+r.Len-1)/crash.PageSize; n++ {
				done.Reads = append(done.Reads, n)
			}
		}
	}
	for ev, err := range crash.FromWriteSet(d.each(logs.records), logs.blocks, d.numbers()...) {
		if err != nil {
			return done, err
		}
		done.Events = append(done.Events, ev)
	}
	return done, nil
}
