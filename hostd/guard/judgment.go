package guard

import (
	"fmt"
	"sync/atomic"
	"time"

	"fsward/change"
)

// DefaultWork bounds the steps of a judgment. A step takes about 50 ns. Commits of the known shapes
// take up to 160 steps a record (docs/results/shapes.md): a sound commit has more than ten times
// that, and a small one has 20 s in any case.
var DefaultWork = change.WorkLimits{Base: 400_000_000, PerBlock: 2000, PerRecord: 2000}

// NewWork returns a budget for the judgments of a guard. The zero limits mean DefaultWork.
func NewWork(limits change.WorkLimits) *change.WorkBudget {
	if limits == (change.WorkLimits{}) {
		limits = DefaultWork
	}
	return change.NewWorkBudget(limits)
}

const (
	// longJudgment is how long a judgment takes before it reports its progress.
	longJudgment = time.Second
	// judgmentEvery is the time between two reports.
	judgmentEvery = 5 * time.Second
)

// A judgmentWatch reports the progress of judgments that take long. A nil judgmentWatch does
// nothing.
type judgmentWatch struct {
	work       *change.WorkBudget
	volume     atomic.Pointer[guardedVolume] // of the write that is judged
	stop, done chan struct{}
}

// setVolume sets the volume of the write that is judged.
func (j *judgmentWatch) setVolume(v *guardedVolume) {
	if j != nil && j.volume.Load() != v {
		j.volume.Store(v)
	}
}

// begin begins to watch the judgments within a budget.
func (j *judgmentWatch) begin(work *change.WorkBudget) {
	j.work, j.stop, j.done = work, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(j.done)
		tick := time.NewTicker(longJudgment / 4)
		defer tick.Stop()
		var reported time.Time
		for {
			select {
			case <-j.stop:
				return
			case now := <-tick.C:
				if p := j.progress(); p != nil && now.Sub(p.began) >= longJudgment &&
					(reported.Before(p.began) || now.Sub(reported) >= judgmentEvery) {
					reported = now
					v := j.volume.Load()
					s := v.state.Load()
					v.guard.report(v, &Event{Kind: KindProgress, Outcome: change.Holds, Progress: p,
						Disk: v.guard.name, Volume: s.Path, FS: s.FS,
						Note: "a commit is being judged: " + p.String()})
				}
			}
		}
	}()
}

// end ends the watch. It may be called without begin.
func (j *judgmentWatch) end() {
	if j.stop != nil {
		close(j.stop)
		<-j.done
		j.stop = nil
	}
}

// progress returns the progress of the present judgment; nil if there is none.
func (j *judgmentWatch) progress() *Progress {
	done, ok := j.work.Current().Done()
	v := j.volume.Load()
	if !ok || v == nil {
		return nil
	}
	p := judgmentProgress(done, time.Now())
	p.volume = v
	return p
}

// judgmentProgress returns the progress of a judgment. The time that interpretation takes is
// unknown until it ends.
func judgmentProgress(done change.WorkDone, now time.Time) *Progress {
	p := &Progress{What: "commit", Phase: PhaseReading, Blocks: done.Blocks, began: done.Began}
	if done.Judging == 0 {
		return p
	}
	p.Phase, p.Done, p.Records = PhaseJudging, min(done.Judged, done.Records), done.Records
	part := float64(p.Done) / float64(max(p.Records, 1))
	read := now.Sub(done.Began) - done.Judging
	if part == 0 {
		return p
	}
	all := float64(read) + float64(done.Judging)/part
	p.Percent = 100 * (float64(read) + float64(done.Judging)) / all
	p.LeftNS = int64(float64(done.Judging) * (1 - part) / part)
	return p
}

// amount describes the part of a judgment that is done.
func (s *Progress) amount() string {
	if s.Phase == PhaseReading {
		return fmt.Sprintf("%d metadata blocks so far", s.Blocks)
	}
	return fmt.Sprintf("%d of %d records", s.Done, s.Records)
}
