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
	"fsward/interp/detect"
)

// A Transaction holds the requests in the logs of a guest's disks from one commit to the next, with
// the writes of the copies of the superblock.
type Transaction struct {
	Commit     int    // number in the log, from 1; 0 for the requests after the last commit
	Log        bool   // it ends with a log commit, which is counted as a commit
	Generation uint64 // of the commit
	FS         string
	Requests   []DiskRequest
	After      *Overlays // the disks after the transaction; valid until visit returns
}

// A DiskRequest is a request to one of a guest's disks. Disks are numbered from 0.
type DiskRequest struct {
	Disk int
	blocktap.Request
}

// EachTransaction reads logs over their bases and calls visit for each transaction, and at the end
// for the requests after the last commit. The bases do not change. The commits are not checked by
// rules.
func EachTransaction(ctx context.Context, disks []ReplayDisk, fs string,
	visit func(*Transaction) error) error {
	return eachTransaction(ctx, disks, fs, false, visit)
}

// EachLogTransaction does the same with a transaction for each commit and for each log commit.
func EachLogTransaction(ctx context.Context, disks []ReplayDisk, fs string,
	visit func(*Transaction) error) error {
	return eachTransaction(ctx, disks, fs, true, visit)
}

func eachTransaction(ctx context.Context, recorded []ReplayDisk, fs string, logs bool,
	visit func(*Transaction) error) error {
	disks, recording, err := openRecorded(recorded)
	if err != nil {
		return err
	}
	defer disks.Close()
	follower, err := guard.Follow(disks, fs, interp.Limits{},
		func(i int) string { return recorded[i].Base })
	if err != nil {
		return err
	}
	s := &splitter{disks: disks, follower: follower, logs: logs, visit: visit,
		t: &Transaction{After: disks}}
	for _, d := range disks.Disks {
		s.devices = append(s.devices, blocktap.NewDevice(d, nil))
	}
	for ctx.Err() == nil {
		disk, entry, err := recording.Next()
		if errors.Is(err, io.EOF) {
			return visit(s.t)
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
			s.add(disk, blocktap.Request{Op: blocktap.OpFlush})
		}
		if r.Op == blocktap.OpFlush {
			s.add(disk, r)
			continue
		}
		if err := s.write(ctx, disk, r, entry.Index); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A splitter splits the requests of a recording into transactions.
type splitter struct {
	disks    *Overlays
	devices  []*blocktap.Device
	follower *detect.Follower
	logs     bool // a log commit ends a transaction too
	visit    func(*Transaction) error
	t        *Transaction // the present one
	commits  int
}

func (s *splitter) add(disk int, r blocktap.Request) {
	s.t.Requests = append(s.t.Requests, DiskRequest{disk, r})
}

// write performs a request that changes a disk. index is the number of its log entry.
func (s *splitter) write(ctx context.Context, disk int, r blocktap.Request, index uint64) error {
	w := guard.WriteOf(&r)
	w.Off = interp.Address(disk, w.Off)
	member := s.follower.On(disk) != ""
	obs := s.follower.Observe(w)
	logCommit := s.logs && obs.Point == interp.LogPoint
	// The first write that is not of a copy of the superblock begins the next transaction. A write to
	// a disk outside the file system goes to a disk that the commit adds: later copies of its
	// superblock may come before the first copy.
	if s.t.Commit > 0 && member && (obs.Generation != s.t.Generation || logCommit) {
		if err := s.visit(s.t); err != nil {
			return err
		}
		s.t = &Transaction{After: s.disks}
	}
	s.add(disk, r)
	if obs.Point == interp.CommitPoint || logCommit {
		s.commits++
		s.t.Commit, s.t.Log = s.commits, logCommit
		s.t.Generation, s.t.FS = obs.Generation, s.follower.FS()
	}
	err := s.devices[disk].Do(ctx, &r)
	s.follower.Settle(err == nil)
	if err != nil {
		return fmt.Errorf("log entry %d: %w: is it the right base?", index, err)
	}
	return nil
}

// Patched returns the requests of the transaction with each patch applied to the last write of its
// range. It returns an error if the transaction does not write a range.
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

// patchSector puts a sector into the last request that writes its address. It copies the request's
// data before the first change.
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
