package hostd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Transaction is what a log holds from one commit to the next: the writes between them, those of the
// superblock's copies included.
type Transaction struct {
	Commit     int    // 1 for the first in the log; 0 for what comes after the last
	Log        bool   // it ends with a log commit, which counts as a commit too
	Generation uint64 // of the commit
	FS         string
	Requests   []blocktap.Request
	Disk       blocktap.Disk // as it is after the transaction; valid during the call
}

// EachTransaction reads a log over its base and calls visit for each transaction, and at the end for what
// comes after the last commit. The base is not changed. A log whose writes do not hold is not checked.
func EachTransaction(ctx context.Context, base, log, fs string, visit func(*Transaction) error) error {
	return eachTransaction(ctx, base, log, fs, false, visit)
}

// EachLogTransaction does the same with a transaction for each commit and for each log commit.
func EachLogTransaction(ctx context.Context, base, log, fs string, visit func(*Transaction) error) error {
	return eachTransaction(ctx, base, log, fs, true, visit)
}

func eachTransaction(ctx context.Context, base, log, fs string, logs bool, visit func(*Transaction) error) error {
	image, err := blocktap.OpenImage(base)
	if err != nil {
		return err
	}
	defer image.Close()
	tape, err := trace.Open(log)
	if err != nil {
		return err
	}
	defer tape.Close()
	disk, err := overlay.New(image)
	if err != nil {
		return err
	}
	defer disk.Close()
	follower, err := detect.Follow(disk, fs)
	if err != nil {
		return fmt.Errorf("%s: %w", base, err)
	}
	device := blocktap.NewDevice(disk, nil)
	t := &Transaction{Disk: disk}
	commits := 0
	for ctx.Err() == nil {
		entry, err := tape.Next()
		if errors.Is(err, io.EOF) {
			return visit(t)
		}
		if err != nil {
			return err
		}
		r, ok := entry.Request()
		if !ok {
			continue
		}
		r.Data = bytes.Clone(r.Data)
		if entry.Flags&trace.Flush != 0 && r.Op != blocktap.OpFlush {
			t.Requests = append(t.Requests, blocktap.Request{Op: blocktap.OpFlush})
		}
		var obs interp.Observation
		if r.Op != blocktap.OpFlush {
			obs = follower.Observe(writeOf(&r))
		}
		// The first write that is not of a copy of the superblock begins the next transaction.
		if t.Commit > 0 && (obs.Generation != t.Generation || logs && obs.Point == interp.LogPoint) {
			if err := visit(t); err != nil {
				return err
			}
			t = &Transaction{Disk: disk}
		}
		t.Requests = append(t.Requests, r)
		if obs.Point == interp.CommitPoint || logs && obs.Point == interp.LogPoint {
			commits++
			t.Commit, t.Log, t.Generation, t.FS = commits, obs.Point == interp.LogPoint, obs.Generation, follower.FS()
		}
		if r.Op == blocktap.OpFlush {
			continue
		}
		err = device.Do(ctx, &r)
		follower.Settle(err == nil)
		if err != nil {
			return fmt.Errorf("log entry %d: %w: is it the right base?", entry.Index, err)
		}
	}
	return ctx.Err()
}

// Patched returns the requests of the transaction with patches made in the last write of each range. A
// patch of what the transaction did not write is an error.
func (t *Transaction) Patched(patches []interp.Patch) ([]blocktap.Request, error) {
	out := append([]blocktap.Request(nil), t.Requests...)
	for _, p := range patches {
		for at := uint64(0); at < uint64(len(p.Data)); at += blocktap.SectorSize {
			if !patchSector(out, t.Requests, p.Off+at, p.Data[at:at+blocktap.SectorSize]) {
				return nil, fmt.Errorf("the transaction does not write device address %d", p.Off+at)
			}
		}
	}
	return out, nil
}

// patchSector puts a sector into the last request that writes it, whose data is copied before its first
// change.
func patchSector(out, original []blocktap.Request, off uint64, data []byte) bool {
	for i := len(out) - 1; i >= 0; i-- {
		r := &out[i]
		if r.Op != blocktap.OpWrite || off < r.Off || off >= r.Off+r.Len {
			continue
		}
		if &r.Data[0] == &original[i].Data[0] {
			r.Data = bytes.Clone(r.Data)
		}
		copy(r.Data[off-r.Off:], data)
		return true
	}
	return false
}
