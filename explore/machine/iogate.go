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

// ioGate has the bios of guarded disks wait for what is said of them. From the first of them on it reads the log of the RAM disks as it comes,
// beside the requests to the machine, and keeps the records for who asks for them.
type ioGate struct {
	guest  *guest.Guest
	cancel context.CancelFunc
	ended  chan struct{} // closed when the log is read no more
	sent   chan struct{} // closed when answers are sent no more

	mu      sync.Mutex
	change  sync.Cond // of what follows
	allow   map[uint32]func(bio *ramdisk.Record) unix.Errno
	records []ramdisk.Record // that nobody has taken
	bytes   int              // of their data
	answers []agent.Op       // that were not sent
	sending bool
	err     error // that ended it
}

// errUnread ends the gate: the machine was put back, or given up.
var errUnread = errors.New("the log of the RAM disks is read no more")

// newIOGate begins to read where a reader of the log is; nil: at its beginning.
func newIOGate(g *guest.Guest, log *ramdisk.Reader) *ioGate {
	ctx, cancel := context.WithCancel(context.Background())
	a := &ioGate{guest: g, cancel: cancel, ended: make(chan struct{}), sent: make(chan struct{}),
		allow: make(map[uint32]func(bio *ramdisk.Record) unix.Errno)}
	a.change.L = &a.mu
	if log == nil {
		log = ramdisk.NewReader(g.Log(ctx))
	}
	go func() {
		defer close(a.ended)
		a.fail(a.read(ctx, log))
	}()
	go func() {
		defer close(a.sent)
		a.fail(a.send(ctx))
	}()
	return a
}

// end gives it up, which cancel has begun. The machine was put back: no bio that waits is there any more, and no request that was under way.
func (a *ioGate) end() {
	a.fail(errUnread)
	<-a.ended
	<-a.sent
}

func (a *ioGate) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
	a.change.Broadcast()
}

// read keeps the records of the log, and has what waits judged.
func (a *ioGate) read(ctx context.Context, log *ramdisk.Reader) error {
	allowed := make(map[uint64]bool) // of bios that have not completed
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
				return fmt.Errorf("disk %d: bio %d was allowed, and ended with %w: its guard no longer knows what is on it", r.Disk, r.ID, r.Status)
			}
			delete(allowed, r.ID)
		}
		a.mu.Lock()
		a.records, a.answers, a.bytes = append(a.records, kept), append(a.answers, answer...), a.bytes+len(kept.Data)
		full := a.bytes > maxUntaken || len(a.records) > maxUntaken/ramdisk.SectorSize
		a.change.Broadcast()
		a.mu.Unlock()
		if full {
			return fmt.Errorf("one step with all before it has written more than %d MiB to disks of which some are guarded", maxUntaken>>20)
		}
	}
	return errUnread
}

// maxUntaken bounds the data of the records that nobody has taken: a guest that writes without end does not fill the host's memory.
const maxUntaken = 512 << 20

// send sends the answers that there are, in their order.
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
		done, err := a.guest.Do(ctx, agent.Batch{Ops: ops, StopAtError: true, Timeout: diskTimeout})
		if err == nil {
			err = agent.CheckResults(ops, done.Results, diskTimeout)
		}
		if err != nil {
			return fmt.Errorf("answering what waits on a guarded disk: %w", err)
		}
		a.mu.Lock()
		a.sending = false
		a.change.Broadcast()
		a.mu.Unlock()
	}
}

// guard sets what says of a disk what is done.
func (a *ioGate) guard(disk uint32, allow func(bio *ramdisk.Record) unix.Errno) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.allow[disk] = allow; allow == nil {
		delete(a.allow, disk)
	}
}

// until returns once the log was read up to a mark, and what waited before it has its answer; take: with the records before the mark, which
// are forgotten.
func (a *ioGate) until(ctx context.Context, mark string, take bool) ([]ramdisk.Record, error) {
	stop := context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.change.Broadcast()
	})
	defer stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	at := 0
	for {
		i := slices.IndexFunc(a.records[at:], func(r ramdisk.Record) bool { return r.Type == ramdisk.Mark && string(r.Data) == mark })
		switch {
		case i >= 0 && len(a.answers) == 0 && !a.sending:
			out := a.records[:at+i]
			a.bytes -= len(mark)
			if !take {
				a.records = slices.Concat(out, a.records[at+i+1:])
				return nil, nil
			}
			a.records = slices.Clone(a.records[at+i+1:])
			for j := range out {
				a.bytes -= len(out[j].Data)
			}
			return out, nil
		case a.err != nil:
			return nil, a.err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case i >= 0:
			at += i
		default:
			at = len(a.records)
		}
		a.change.Wait()
	}
}
