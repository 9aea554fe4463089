package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// An ioGate holds the bios of guarded disks until they are allowed or refused. One goroutine reads
// the log of the RAM disks as records come, asks the guard of the disk about each bio, and keeps
// the records until they are taken. Another goroutine sends the answers to the guest.
type ioGate struct {
	guest    *guest.Guest
	cancel   context.CancelFunc
	readDone chan struct{} // closed when the reading goroutine has ended
	sendDone chan struct{} // closed when the sending goroutine has ended

	mu      sync.Mutex
	change  sync.Cond // signals a change of the fields below
	allow   map[uint32]func(bio *ramdisk.Record) unix.Errno
	records []ramdisk.Record // records that were not taken
	bytes   int              // bytes of data in records
	answers []agent.Op       // answers that were not sent
	sending bool             // a request with answers is in progress
	err     error            // first error of a goroutine
}

// errGateEnded is the error of a gate that end has ended.
var errGateEnded = errors.New("the guard of the RAM disks has ended")

// newIOGate starts a gate. log is the reader of the log so far; nil starts a new one.
func newIOGate(g *guest.Guest, log *ramdisk.Reader) *ioGate {
	ctx, cancel := context.WithCancel(context.Background())
	a := &ioGate{
		guest:    g,
		cancel:   cancel,
		readDone: make(chan struct{}),
		sendDone: make(chan struct{}),
		allow:    make(map[uint32]func(bio *ramdisk.Record) unix.Errno),
	}
	a.change.L = &a.mu
	if log == nil {
		log = ramdisk.NewReader(g.Log(ctx))
	}
	go func() {
		defer close(a.readDone)
		a.fail(a.read(ctx, log))
	}()
	go func() {
		defer close(a.sendDone)
		a.fail(a.send(ctx))
	}()
	return a
}

// end waits for the end of the goroutines. The caller has called cancel, and has then restored the
// guest, which ended the waiting bios and the requests in progress.
func (a *ioGate) end() {
	a.fail(errGateEnded)
	<-a.readDone
	<-a.sendDone
}

// fail records the first error of the gate.
func (a *ioGate) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
	a.change.Broadcast()
}

// maxKept bounds the bytes of data in the records of a gate, so that a guest that writes without
// end does not fill the host's memory.
const maxKept = 512 << 20

// read reads the log. It queues an answer for each bio that waits, and keeps all records. It fails
// if a bio that was allowed ends with an error: the guard's copy of the disk then differs from the
// disk.
func (a *ioGate) read(ctx context.Context, log *ramdisk.Reader) error {
	allowed := make(map[uint64]bool) // by the id of a bio that has not completed: it was allowed
	for ctx.Err() == nil {
		r, err := log.Next()
		if err != nil {
			return err
		}
		kept := *r
		kept.Data = slices.Clone(r.Data)
		a.mu.Lock()
		allow := a.allow[r.Disk]
		a.mu.Unlock()
		var answer []agent.Op
		switch {
		case allow != nil && r.Type == ramdisk.Submit && r.Op != ramdisk.Read:
			errno := allow(&kept)
			answer = append(answer, agent.DiskAnswer(r.Disk, r.ID, errno))
			allowed[r.ID] = errno == 0
		case r.Type == ramdisk.Complete:
			if allowed[r.ID] && r.Status != 0 {
				return fmt.Errorf("disk %d: bio %d was allowed, and failed with %w: "+
					"its guard no longer knows the contents of the disk", r.Disk, r.ID, r.Status)
			}
			delete(allowed, r.ID)
		}
		if err := a.keep(kept, answer); err != nil {
			return err
		}
	}
	return errGateEnded
}

// keep adds a record, and the answer to its bio if it waits. It fails if the gate holds too many
// records.
func (a *ioGate) keep(r ramdisk.Record, answer []agent.Op) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.records, a.answers = append(a.records, r), append(a.answers, answer...)
	a.bytes += len(r.Data)
	a.change.Broadcast()
	if a.bytes > maxKept || len(a.records) > maxKept/ramdisk.SectorSize {
		return fmt.Errorf("a step, with all steps before it, has written more than %d MiB "+
			"while a disk was guarded", maxKept>>20)
	}
	return nil
}

// send sends the answers in their order.
func (a *ioGate) send(ctx context.Context) error {
	for {
		a.mu.Lock()
		for len(a.answers) == 0 && a.err == nil {
			a.change.Wait()
		}
		ops, err := a.answers[:min(len(a.answers), agent.MaxOps)], a.err
		a.answers, a.sending = slices.Clone(a.answers[len(ops):]), true
		a.mu.Unlock()
		if err != nil {
			return err
		}
		batch := agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout}
		done, err := a.guest.Do(ctx, batch)
		if err == nil {
			err = agent.CheckResults(ops, done.Results, diskTimeout)
		}
		if err != nil {
			return fmt.Errorf("answering the bios of a guarded disk: %w", err)
		}
		a.mu.Lock()
		a.sending = false
		a.change.Broadcast()
		a.mu.Unlock()
	}
}

// guard sets the function that allows or refuses the bios of a disk. nil ends the guarding.
func (a *ioGate) guard(disk uint32, allow func(bio *ramdisk.Record) unix.Errno) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.allow[disk] = allow; allow == nil {
		delete(a.allow, disk)
	}
}

// takeUntil waits until the gate has read a mark and has sent all answers. It removes the mark and
// the records before it, and returns these records.
func (a *ioGate) takeUntil(ctx context.Context, mark string) ([]ramdisk.Record, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, err := a.awaitMark(ctx, mark)
	if err != nil {
		return nil, err
	}
	out := a.records[:i]
	a.records = slices.Clone(a.records[i+1:])
	a.bytes -= len(mark)
	for j := range out {
		a.bytes -= len(out[j].Data)
	}
	return out, nil
}

// skipMark waits like takeUntil, and removes only the mark.
func (a *ioGate) skipMark(ctx context.Context, mark string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	i, err := a.awaitMark(ctx, mark)
	if err != nil {
		return err
	}
	a.records = slices.Concat(a.records[:i], a.records[i+1:])
	a.bytes -= len(mark)
	return nil
}

// awaitMark waits until the gate has read a mark and has sent all answers, and returns the index of
// the mark in a.records. It fails when ctx ends or the gate has failed. The caller holds a.mu.
func (a *ioGate) awaitMark(ctx context.Context, mark string) (int, error) {
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.change.Broadcast()
	})
	defer stop()
	isMark := func(r ramdisk.Record) bool { return r.Type == ramdisk.Mark && string(r.Data) == mark }
	searched := 0 // records before it are not the mark
	for {
		i := slices.IndexFunc(a.records[searched:], isMark)
		switch {
		case i >= 0 && len(a.answers) == 0 && !a.sending:
			return searched + i, nil
		case a.err != nil:
			return 0, a.err
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case i >= 0:
			searched += i
		default:
			searched = len(a.records)
		}
		a.change.Wait()
	}
}
