package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// baseState says which state of the disk a base is. It is in a file beside the base.
type baseState struct {
	Recording string `json:"recording"`
	Segment   int    `json:"segment"` // the base is the disk as it was when the segment began
	// Folding: some writes of the segment may be on the base already. All have to be made again.
	Folding bool `json:"folding"`
}

func statePath(base string) string { return base + ".state" }

// readState returns the state of a base; nil if no recording has changed it.
func readState(base string) (*baseState, error) {
	text, err := os.ReadFile(statePath(base))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	s := &baseState{}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statePath(base), err)
	}
	return s, nil
}

// write replaces the state of a base. It is durable when write returns.
func (s baseState) write(base string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	next := statePath(base) + ".new"
	f, err := os.Create(next)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, statePath(base)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(base))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// beginBase checks that the base of a disk can be a copy of it, and notes that it is the disk as it
// was when segment 0 began.
func beginBase(d Disk, id string) error {
	if s, err := readState(d.Base); err != nil {
		return err
	} else if s != nil {
		return fmt.Errorf("%s belongs to another recording: make a new copy of the disk, and remove %s",
			d.Base, statePath(d.Base))
	}
	base, err := blocktap.OpenFile(d.Base, blocktap.FileOptions{})
	if err != nil {
		return err
	}
	defer base.Close()
	if base.Size() != d.Size {
		return fmt.Errorf("%s has %d bytes and its disk %d: it is no copy", d.Base, base.Size(), d.Size)
	}
	return baseState{Recording: id}.write(d.Base)
}

// fold makes the writes of a segment on the base of a disk. If it does not finish, it can be done
// again.
func fold(d Disk, id string, number int) error {
	base, err := blocktap.OpenFile(d.Base, blocktap.FileOptions{})
	if err != nil {
		return err
	}
	defer base.Close()
	if err := (baseState{id, number, true}).write(d.Base); err != nil {
		return err
	}
	if err := errors.Join(Apply(path(d.Log, number), base), base.Flush()); err != nil {
		return err
	}
	return baseState{id, number + 1, false}.write(d.Base)
}

// Apply makes the writes of a log on a disk, without those that were not performed when they were
// recorded.
func Apply(log string, disk blocktap.Disk) error {
	undone, _, err := trace.ReadUndone(log)
	if err != nil {
		return err
	}
	device := blocktap.NewDevice(disk, nil)
	return trace.Each(log, func(e *trace.Entry) error {
		r, ok := e.Request()
		if !ok || r.Op == blocktap.OpFlush || undone.Has(e.Index) {
			return nil
		}
		r.FUA = false // the caller flushes
		return device.Do(context.Background(), &r)
	})
}
