package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/hostd/guard"
	"fsward/interp"
)

// A Transaction is what the logs of a guest's disks hold from one commit to the next: the writes between them, those
// of the superblock's copies included.
type Transaction struct {
	Commit     int    // 1 for the first in the log; 0 for what comes after the last
	Log        bool   // it ends with a log commit, which counts as a commit too
	Generation uint64 // of the commit
	FS         string
	Requests   []DiskRequest
	After      *Overlays // the disks as they are after the transaction; valid during the call
}

// A DiskRequest is a request to one of a guest's disks, counted from 0.
type DiskRequest struct {
	Disk int
	blocktap.Request
}

// EachTransaction reads logs over their bases and calls visit for each transaction, and at the end for what
// comes after the last commit. The bases are not changed. A log whose writes do not hold is not checked.
func EachTransaction(ctx context.Context, disks []ReplayDisk, fs string, visit func(*Transaction) error) error {
	return eachTransaction(ctx, disks, fs, false, visit)
}

// EachLogTransaction does the same with a transaction for each commit and for each log commit.
func EachLogTransaction(ctx context.Context, disks []ReplayDisk, fs string, visit func(*Transaction) error) error {
	return eachTransaction(ctx, disks, fs, true, visit)
}

func eachTransaction(ctx context.Context, recorded []ReplayDisk, fs string, logs bool, visit func(*Transaction) error) error {
	disks, tape, err := openRecorded(recorded)
	if err != nil {
		return err
	}
	defer disks.Close()
	follower, err := guard.Follow(disks, fs, interp.Limits{}, func(i int) string { return recorded[i].Base })
	if err != nil {
		return err
	}
	var devices []*blocktap.Device
	for _, d := range disks.Disks {
		devices = append(devices, blocktap.NewDevice(d, nil))
	}
	t := &Transaction{After: disks}
	commits := 0
	for ctx.Err() == nil {
		disk, entry, err := tape.Next()
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
			t.Requests = append(t.Requests, DiskRequest{disk, blocktap.Request{Op: blocktap.OpFlush}})
		}
		if r.Op == blocktap.OpFlush {
			t.Requests = append(t.Requests, DiskRequest{disk, r})
			continue
		}
		w := guard.WriteOf(&r)
		w.Off = interp.Address(disk, w.Off)
		member := follower.On(disk) != ""
		obs := follower.Observe(w)
		// The first write that is not of a copy of the superblock begins the next transaction. One to a disk that is
		// none of the file system's is to one that the commit adds, whose later copies may come before its first.
		if t.Commit > 0 && member && (obs.Generation != t.Generation || logs && obs.Point == interp.LogPoint) {
			if err := visit(t); err != nil {
				return err
			}
			t = &Transaction{After: disks}
		}
		t.Requests = append(t.Requests, DiskRequest{disk, r})
		if obs.Point == interp.CommitPoint || logs && obs.Point == interp.LogPoint {
			commits++
			t.Commit, t.Log, t.Generation, t.FS = commits, obs.Point == interp.LogPoint, obs.Generation, follower.FS()
		}
		err = devices[disk].Do(ctx, &r)
		follower.Settle(err == nil)
		if err != nil {
			return fmt.Errorf("log entry %d: %w: is it the right base?", entry.Index, err)
		}
	}
	return ctx.Err()
}

// Patched returns the requests of the transaction with patches made in the last write of each range. A
// patch of what the transaction did not write is an error.
func (t *Transaction) Patched(patches []interp.Patch) ([]DiskRequest, error) {
	out := append([]DiskRequest(nil), t.Requests...)
	for _, p := range patches {
		for at := uint64(0); at < uint64(len(p.Data)); at += blocktap.SectorSize {
			if !patchSector(out, t.Requests, p.Off+at, p.Data[at:at+blocktap.SectorSize]) {
				disk, off := interp.Locate(p.Off + at)
				return nil, fmt.Errorf("the transaction does not write address %d of disk %d", off, disk)
			}
		}
	}
	return out, nil
}

// patchSector puts a sector into the last request that writes its address, whose data is copied before its first
// change.
func patchSector(out, original []DiskRequest, addr uint64, data []byte) bool {
	disk, off := interp.Locate(addr)
	for i := len(out) - 1; i >= 0; i-- {
		r := &out[i]
		if r.Disk != disk || r.Op != blocktap.OpWrite || off < r.Off || off >= r.Off+r.Len {
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
