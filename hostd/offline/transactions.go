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

// A Transaction holds the requests in the logs of a guest's disks from one commit to the next,
// with the writes of the copies of the superblock.
type Transaction struct {
	Commit     int    // number in the log, from 1; 0 for the requests after the last commit
	Log        bool   // it ends with a log commit, which is counted as a commit
	Generation uint64 // of the commit
	FS         string
	Volume     string // path of the volume that the commit is on; "" for a whole disk
	Requests   []DiskRequest
	Disks      *Overlays   // the guest's disks after the transaction; valid until visit returns
	After      interp.Disk // of the file system that was committed, after the transaction

	// place returns the address on the guest's disks of one in After; nil: they are the same
	place func(at uint64) (addr uint64, ok bool)
}

// A DiskRequest is a request to one of a guest's disks. Disks are numbered from 0.
type DiskRequest struct {
	Disk int
	blocktap.Request
}

// EachTransaction reads logs over their bases and calls visit for each transaction, and at the end
// for the requests after the last commit. The bases do not change. The commits are not checked by
// rules. A base may be IMG:VOLUME: the commits of that volume count. Otherwise those of all
// volumes do.
func EachTransaction(ctx context.Context, disks []ReplayDisk, fs string,
	visit func(*Transaction) error) error {
	return (&splitter{visit: visit}).walk(ctx, disks, fs)
}

// EachLogTransaction does the same with a transaction for each commit and for each log commit.
func EachLogTransaction(ctx context.Context, disks []ReplayDisk, fs string,
	visit func(*Transaction) error) error {
	return (&splitter{visit: visit, logs: true}).walk(ctx, disks, fs)
}

// A splitter splits the requests of a recording into transactions.
type splitter struct {
	visit func(*Transaction) error
	logs  bool // a log commit ends a transaction too
	// see is shown each commit and log commit of a file system before it lands, with the number of its
	// volume; may be nil
	see func(v *detect.Volumes, volume int, obs interp.Observation) error

	disks   *Overlays
	devices []*blocktap.Device
	volumes *detect.Volumes
	t       *Transaction // the present one
	commits int
}

// walk reads logs over their bases.
func (s *splitter) walk(ctx context.Context, recorded []ReplayDisk, fs string) error {
	recorded, only, err := splitBases(recorded)
	if err != nil {
		return err
	}
	disks, recording, err := openRecorded(recorded)
	if err != nil {
		return err
	}
	defer disks.Close()
	s.volumes, err = guard.FollowVolumes(disks, detect.VolumeOptions{FS: fs, Only: only},
		func(i int) string { return recorded[i].Base })
	if err != nil {
		return err
	}
	s.disks, s.t = disks, &Transaction{Disks: disks}
	for _, d := range disks.Disks {
		s.devices = append(s.devices, blocktap.NewDevice(d, nil))
	}
	for ctx.Err() == nil {
		disk, entry, err := recording.Next()
		if errors.Is(err, io.EOF) {
			return s.visit(s.t)
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

func (s *splitter) add(disk int, r blocktap.Request) {
	s.t.Requests = append(s.t.Requests, DiskRequest{disk, r})
}

// write performs a request that changes a disk, a run of addresses of one volume at a time. index
// is the number of its log entry.
func (s *splitter) write(ctx context.Context, disk int, r blocktap.Request, index uint64) error {
	run := func(q *blocktap.Request) uint64 {
		return s.volumes.Run(interp.Address(disk, q.Off), q.Len)
	}
	for n := run(&r); n > 0 && n < r.Len; n = run(&r) {
		part := r
		part.Len, r.Off, r.Len = n, r.Off+n, r.Len-n
		if r.Data != nil {
			part.Data, r.Data = r.Data[:n:n], r.Data[n:]
		}
		if err := s.writeRun(ctx, disk, part, index); err != nil {
			return err
		}
	}
	return s.writeRun(ctx, disk, r, index)
}

func (s *splitter) writeRun(ctx context.Context, disk int, r blocktap.Request,
	index uint64) error {
	w := guard.WriteOf(&r)
	w.Off = interp.Address(disk, w.Off)
	i, _, found := s.volumes.Locate(w.Off)
	member := found && s.volumes.On(i) != ""
	obs := s.volumes.Observe(w)
	logCommit := s.logs && obs.Point == interp.LogPoint
	commit := obs.Point == interp.CommitPoint && s.volumes.FS() != "volume"
	if s.see != nil && (commit || obs.Point == interp.LogPoint) {
		if err := s.see(s.volumes, i, obs); err != nil {
			return err
		}
	}
	// The first write that is not of a copy of the superblock begins the next transaction. A write to
	// a disk outside the file system goes to a disk that the commit adds: later copies of its
	// superblock may come before the first copy.
	if s.t.Commit > 0 && member && (obs.Generation != s.t.Generation || logCommit) {
		if err := s.visit(s.t); err != nil {
			return err
		}
		s.t = &Transaction{Disks: s.disks}
	}
	s.add(disk, r)
	if commit || logCommit {
		s.commits++
		s.t.Commit, s.t.Log = s.commits, logCommit
		s.t.Generation, s.t.FS = obs.Generation, s.volumes.FS()
		s.t.on(s.volumes, i)
	}
	err := s.devices[disk].Do(ctx, &r)
	s.volumes.Settle(err == nil)
	if err != nil {
		return fmt.Errorf("log entry %d: %w: is it the right base?", index, err)
	}
	return nil
}

// on assigns the transaction to the file system on volume i.
func (t *Transaction) on(v *detect.Volumes, i int) {
	after, start := v.FileSystem(i)
	t.Volume, t.After = v.State(i).Path, after
	t.place = func(at uint64) (uint64, bool) {
		volume, off := interp.Locate(start + at)
		return v.Place(volume, off)
	}
}

// Patched returns the requests of the transaction with each patch of After applied to the last
// write of its range. It returns an error if the transaction does not write a range.
func (t *Transaction) Patched(patches []interp.Patch) ([]DiskRequest, error) {
	out := append([]DiskRequest(nil), t.Requests...)
	for _, p := range patches {
		for at := uint64(0); at < uint64(len(p.Data)); at += blocktap.SectorSize {
			addr := p.Off + at
			if t.place != nil {
				var ok bool
				if addr, ok = t.place(p.Off + at); !ok {
					return nil, fmt.Errorf("address %d lies outside the volume", p.Off+at)
				}
			}
			if !patchSector(out, t.Requests, addr, p.Data[at:at+blocktap.SectorSize]) {
				disk, off := interp.Locate(addr)
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
