package explore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"fsward/explore/agent"
)

// A recollection has what recovered disks answered, by the key of each disk (Config.Recovered). A
// checker that asks for nothing else gets the same answers from another crash state that recovers
// to an equal disk, so that the state is checked without a recovery, whatever is expected of it.
type recollection struct {
	disks map[[sha256.Size]byte]map[transcriptKey]agent.Result
	bytes int // of keys and data
}

// maxRecollection bounds the bytes of a recollection.
const maxRecollection = 128 << 20

// find returns the answers of a disk; nil: there are none.
func (r *recollection) find(disk string) map[transcriptKey]agent.Result {
	return r.disks[sha256.Sum256([]byte(disk))]
}

// keep adds answers of a disk.
func (r *recollection) keep(disk string, answers map[transcriptKey]agent.Result) {
	if len(answers) == 0 {
		return
	}
	if r.disks == nil || r.bytes > maxRecollection {
		*r = recollection{disks: make(map[[sha256.Size]byte]map[transcriptKey]agent.Result)}
	}
	key := sha256.Sum256([]byte(disk))
	if r.disks[key] == nil {
		r.disks[key] = make(map[transcriptKey]agent.Result)
	}
	for asked, result := range answers {
		if _, is := r.disks[key][asked]; !is {
			r.bytes += len(asked) + len(result.Data)
			r.disks[key][asked] = result
		}
	}
}

// errNotRecalled is the error of a request that a recollection cannot answer.
var errNotRecalled = errors.New("this was not asked of an equal disk")

// A recalledSystem answers operations from a recollection. It performs nothing.
type recalledSystem struct {
	System
	transcript
}

// Do answers a batch of operations that were done before.
func (r *recalledSystem) Do(_ context.Context, b agent.Batch) (done agent.Done, err error) {
	for _, o := range b.Ops {
		result, is := r.find(o)
		if !is {
			return agent.Done{}, errNotRecalled
		}
		done.Results = append(done.Results, result)
		if result.Errno != 0 && b.StopAtError {
			break
		}
	}
	return done, nil
}

// Run fails.
func (*recalledSystem) Run(context.Context, agent.Command) (agent.Exit, error) {
	return agent.Exit{}, errNotRecalled
}

// sound checks a crash state by the answers of an equal recovered disk. It reports whether that was
// possible and showed nothing wrong: otherwise the crash state has to be recovered.
func (t *target) sound(ctx context.Context, answers map[transcriptKey]agent.Result,
	must *CommittedTree, about Crash) bool {
	choices := new(Chooser)
	e := t.choosing(ctx, &recalledSystem{t.system, transcript{answers: answers}}, choices)
	e.windows.closed = true
	if must != nil {
		tree, err := t.tree(e)
		if err != nil || must.check(tree) != nil {
			return false
		}
	}
	err := t.stack.Checker.Check(e, about)
	return err == nil && e.err == nil && len(e.surprises) == 0 && len(choices.Taken()) == 0
}

// alike reports whether a crash state need not be recovered, by the keys of recoveredKeys: a state
// that recovers to an equal disk met the same expectation, or what such a disk answered meets this
// one.
func (by *examiner) alike(ctx context.Context, c crashCase, disk, alike string) bool {
	x := by.x
	if alike != "" && (x.memo.has(alike) || x.surprised.has(alike)) {
		return true
	}
	if disk == "" {
		return false
	}
	begin := time.Now()
	defer func() { x.totals.Judging += time.Since(begin).Seconds() }()
	answers := x.recollection.find(disk)
	if answers == nil {
		return false
	}
	must := x.ReadCommitted.last(c.State)
	if !x.session.recovery.sound(ctx, answers, must, c.Crash) {
		return false
	}
	x.totals.countCommitted(x.ReadCommitted, must)
	by.remember(true, alike)
	return true
}

// recoveredKeys returns the key of the disk that recovery makes of a crash state, if all that a
// recovery shows is what is read from that disk, and the key of the disk with the expectation. ""
// stands for a key that is not known, or not used.
func (by *examiner) recoveredKeys(c crashCase, known bool) (disk, alike string) {
	x := by.x
	if x.NoPrune || x.HostOnly || x.Recovered == nil || by.recovering != nil || x.MaxFaults > 0 ||
		x.KernelChoices || x.Strategy == MostRecovery {
		return "", ""
	}
	begin := time.Now()
	sum, err := x.Recovered(c.State)
	x.totals.Judging += time.Since(begin).Seconds()
	if err != nil {
		return "", ""
	}
	disk = fmt.Sprintf("%d becomes %s", x.session.disks.used, sum)
	if key, _ := c.key(); known {
		alike = key + disk
	}
	if x.Verify {
		disk = ""
	}
	return disk, alike
}
