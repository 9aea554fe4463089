package explore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"fsward/explore/agent"
)

// A Marker is a System that can put a mark into the log by an operation of a batch.
type Marker interface {
	System
	MarkOp(text string) agent.Op
}

// A replayAhead is a System on which a state is reached. A round trip to an emulated guest takes
// longer than most operations, and the same steps come again for each child of a state and of its
// descendants. So the replayAhead remembers the requests of each step, and sends those of all steps
// with the mount. Of the last step, it sends those that came before the choices in which the child
// differs from the one before it. It answers a request from the results if it is the one that was
// remembered.
type replayAhead struct {
	Marker
	top     string                          // path at which the top of the stack is mounted
	known   map[prefixKey][]replayedRequest // by prefix: the requests of its last step
	differs int                             // how often a step asked for something else than before
	again   bool                            // the last time it did

	active bool              // a state is reached
	keys   []prefixKey       // of its prefixes
	ahead  []replayedRequest // of the steps of the state, until they are sent
	sent   []replayedRequest // sent and not asked for yet
	step   int               // that is replayed, from 1; 0: none is
	record []replayedRequest // its requests
	whole  bool              // record has all of them

	parent  prefixKey         // of the state whose child was executed last
	last    []replayedRequest // of that child's own step, as far as they can be sent ahead
	choices *Chooser          // of that step, while it is done
	chosen  []uint32          // the values that it took
}

// A replayedRequest is a batch or a mark, with the answer if it was sent ahead.
type replayedRequest struct {
	ops     []agent.Op
	mark    string // "": it is a batch
	chosen  int    // number of the choices that the last step had taken before
	results []agent.Result
}

// key identifies the request.
func (r *replayedRequest) key() string {
	if r.mark != "" {
		return "mark " + r.mark
	}
	var b strings.Builder
	for _, o := range r.ops {
		b.WriteString(readKey(o))
	}
	return b.String()
}

// errReplayedOtherwise means that a step asked for something else than before.
var errReplayedOtherwise = errors.New("a step asked for something else than before")

// maxReplays bounds the steps whose requests are remembered, and maxDiffers how often a step may
// ask for something else before nothing is sent ahead any more.
const (
	maxReplays = 1 << 16
	maxDiffers = 8
)

// newReplayAhead returns the replayAhead of a session; nil: the requests of steps are not sent
// ahead, because something else is to happen between them.
func newReplayAhead(s *session) *replayAhead {
	m, ok := s.target.system.(Marker)
	if !ok || s.guard != nil || s.inject || s.countCalls || s.target.kernelChoices ||
		s.threads.wait > 0 || s.recorder.writeSet.system != nil {
		return nil
	}
	return &replayAhead{Marker: m, top: s.target.stack.Top.Path(),
		known: make(map[prefixKey][]replayedRequest)}
}

// begin prepares for a state, and returns the System to reach it on; nil: it is not reached on this
// one. It sends nothing ahead unless all steps are known.
func (a *replayAhead) begin(st *state, use bool) *replayAhead {
	if a == nil {
		return nil
	}
	retry := a.again
	a.active, a.again = use && a.differs < maxDiffers, false
	if !a.active {
		return nil
	}
	if len(a.known) > maxReplays || retry {
		clear(a.known)
		a.last = nil
	}
	a.ahead, a.sent, a.step, a.choices, a.keys = nil, nil, 0, nil, prefixKeys(st)
	if parent := a.keys[len(st.Steps)]; a.parent != parent {
		a.parent, a.last = parent, nil
	}
	for _, key := range a.keys[1:] {
		requests, is := a.known[key]
		if !is {
			a.ahead = nil
			return a
		}
		a.ahead = append(a.ahead, requests...)
	}
	common := 0
	for common < min(len(a.chosen), len(st.Next)) && a.chosen[common] == st.Next[common] {
		common++
	}
	for _, r := range a.last {
		if r.chosen <= common {
			a.ahead = append(a.ahead, r)
		}
	}
	return a
}

// beginLast begins the last step of an execution. It reports whether the step runs on this System.
func (a *replayAhead) beginLast(choices *Chooser) bool {
	if a == nil || !a.active {
		return false
	}
	a.choices, a.last, a.whole = choices, nil, true
	return true
}

// endLast ends the last step. Nothing of a step with a failure is sent ahead: the failure would
// seem to be one of the mount.
func (a *replayAhead) endLast(failed bool) error {
	if a == nil || !a.active {
		return nil
	}
	if failed {
		a.last = nil
	}
	a.chosen, a.choices = Values(a.choices.taken), nil
	_, err := a.next(nil)
	return err
}

// A prefixKey identifies the setup and the first steps of a state.
type prefixKey [sha256.Size]byte

// followed returns the key of the prefix that has one more step. A key is made of the one before
// it, and has one size, because a search without a limit of the depth has long prefixes.
func (p prefixKey) followed(step []Choice) prefixKey {
	return sha256.Sum256(fmt.Append(p[:], Values(step)))
}

// prefixKeys returns the keys of the prefixes of a state: with no step, with one, and so on.
func prefixKeys(st *state) []prefixKey {
	keys := []prefixKey{prefixKey{}.followed(st.Setup)}
	for i, step := range st.Steps {
		keys = append(keys, keys[i].followed(step))
	}
	return keys
}

// beginStep begins step i of the state.
func (a *replayAhead) beginStep(i int) {
	if a != nil {
		a.step, a.record, a.whole = i+1, nil, true
	}
}

// endStep ends the step, and remembers its requests if all of them can be sent ahead.
func (a *replayAhead) endStep() {
	if a == nil {
		return
	}
	if a.whole {
		a.known[a.keys[a.step]] = a.record
	}
	a.step = 0
}

// note remembers a request of a step. fit says that it can be sent ahead.
func (a *replayAhead) note(r replayedRequest, fit bool) {
	a.whole = a.whole && fit
	switch {
	case a.step > 0:
		a.record = append(a.record, r)
	case a.choices != nil && a.whole:
		r.chosen = len(a.choices.taken)
		a.last = append(a.last, r)
	}
}

// next returns the request that was sent ahead and is asked for now; nil: none was sent.
func (a *replayAhead) next(r *replayedRequest) (*replayedRequest, error) {
	if len(a.sent) == 0 {
		return nil, nil
	}
	first := a.sent[0]
	if r == nil || first.key() != r.key() || len(first.results) < len(first.ops) {
		a.differs++
		a.again = true
		return nil, errReplayedOtherwise
	}
	a.sent = a.sent[1:]
	return &first, nil
}

// Run runs a command. A step that does so is not sent ahead.
func (a *replayAhead) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if _, err := a.next(nil); err != nil {
		return agent.Exit{}, err
	}
	a.whole = false
	return a.Marker.Run(ctx, c)
}

// Mark puts a mark into the log, unless that was done ahead.
func (a *replayAhead) Mark(ctx context.Context, text string) error {
	r := replayedRequest{mark: text}
	known, err := a.next(&r)
	a.note(r, true)
	if known != nil || err != nil {
		return err
	}
	return a.Marker.Mark(ctx, text)
}

// Do performs a batch, unless that was done ahead. The requests of all steps follow the mount of
// the top of the stack.
func (a *replayAhead) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if len(b.Ops) == 1 && b.Ops[0].Code == mountCode && len(a.ahead) > 0 {
		if _, _, texts, _ := b.Ops[0].Fields(); texts[1] == a.top {
			return a.mount(ctx, b)
		}
	}
	r := replayedRequest{ops: b.Ops}
	known, err := a.next(&r)
	if err != nil {
		return agent.Done{}, err
	}
	if known != nil {
		a.note(r, true)
		return agent.Done{Results: known.results}, nil
	}
	done, err := a.Marker.Do(ctx, b)
	a.note(r, err == nil && fitsAhead(b.Ops, done.Results))
	return done, err
}

// fitsAhead reports whether a batch can be sent ahead: it has no error, after which the machine
// would do nothing more, and does not take long.
func fitsAhead(ops []agent.Op, results []agent.Result) bool {
	for i, r := range results {
		if _, _, both := ops[i].Both(); both || r.Errno != 0 || ops[i].Code == writebackCode {
			return false
		}
	}
	return len(results) == len(ops)
}

// mount performs a batch that mounts the top of the stack, and the requests of all steps up to the
// first error.
func (a *replayAhead) mount(ctx context.Context, b agent.Batch) (agent.Done, error) {
	var ends []int // of the requests, in b.Ops
	b.Ops, b.StopAtError = append([]agent.Op(nil), b.Ops...), true
	for _, r := range a.ahead {
		if r.mark != "" {
			b.Ops = append(b.Ops, a.MarkOp(r.mark))
		}
		b.Ops = append(b.Ops, r.ops...)
		ends = append(ends, len(b.Ops))
		b.Ops = append(b.Ops, closeAll(r.ops)...)
	}
	a.sent, a.ahead = append([]replayedRequest(nil), a.ahead...), nil
	done, err := a.Marker.Do(ctx, b)
	if err != nil || len(done.Results) == 0 {
		return done, err
	}
	for i := range a.sent {
		r := &a.sent[i]
		if ends[i] <= len(done.Results) {
			r.results = done.Results[ends[i]-len(r.ops) : ends[i]]
		}
	}
	done.Results, done.TimedOut = done.Results[:1], false
	return done, nil
}

// closeAll returns operations that close the files which a batch leaves open, as its end does.
func closeAll(ops []agent.Op) (out []agent.Op) {
	open := make(map[uint32]bool)
	for _, o := range ops {
		slot, _, _, _ := o.Fields()
		switch o.Code {
		case openCode:
			open[slot] = slot < agent.FirstHeld
		case closeCode:
			open[slot] = false
		}
	}
	for slot := range uint32(agent.FirstHeld) {
		if open[slot] {
			out = append(out, agent.Close(slot))
		}
	}
	return out
}

var (
	closeCode     = agent.Close(0).Code
	writebackCode = agent.Writeback().Code // it may take as long as a batch may
)
