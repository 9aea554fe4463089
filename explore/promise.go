package explore

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/ramdisk"
)

// A promise is a call that is to make something durable.
type promise struct {
	name  string // the same for calls of one kind
	call  string
	scope durable.Scope
	kept  bool // it returned with success: what failed has promised nothing
}

// Marks in the log around a promise, with its number.
const (
	markBegin  = "begin "
	markReturn = "return "
)

// Promised calls f, which is to make durable what it writes (durable.Own), or all that was written so far (durable.All), when it returns
// without an error: the account of flushes is held against that. Operations that do so are known to Try and Do; this is for what a command
// promises.
func (e *Env) Promised(call string, scope durable.Scope, f func() error) error {
	if !e.account {
		return e.waiting(f)
	}
	n := len(e.calls)
	e.calls = append(e.calls, promise{name: call, call: call, scope: scope})
	if err := e.mark(markBegin, strconv.Itoa(n)); err != nil {
		return err
	}
	if err := e.waiting(f); err != nil {
		return err
	}
	e.calls[n].kept = true
	return e.mark(markReturn, strconv.Itoa(n))
}

// Operations that promise, and those that do on files that were opened so.
var (
	openCode     = agent.Open(0, "", 0, 0).Code
	fsyncCode    = agent.Fsync(0).Code
	datasyncCode = agent.Fdatasync(0).Code
	syncfsCode   = agent.Syncfs(0).Code
	syncCode     = agent.Sync().Code
	writeCode    = agent.Write(0, 0, nil).Code
	fillCode     = agent.Fill(0, 0, 0, 0).Code
)

// promises says what each of a batch's operations promises: 0 nothing.
func promises(ops []agent.Op) []durable.Scope {
	out := make([]durable.Scope, len(ops))
	var through [agent.MaxSlots]bool
	for i, o := range ops {
		slot, numbers, _, _ := o.Fields()
		switch o.Code {
		case openCode:
			through[slot] = numbers[0]&unix.O_DSYNC != 0 // O_SYNC has that bit, too
		case fsyncCode, datasyncCode:
			out[i] = durable.Own
		case syncCode, syncfsCode:
			out[i] = durable.All
		case writeCode, fillCode:
			if through[slot] {
				out[i] = durable.Own
			}
		}
	}
	return out
}

var strayCode = agent.StrayThreads().Code

// perform has a batch performed. Around operations that promise there are marks for the account of flushes, and it is asked which threads
// ran: those that such an operation waits for have to.
func (e *Env) perform(b agent.Batch) (agent.Done, error) {
	failing := e.fail != nil && !e.fail.done // what is around operations would be among what fails
	if !e.account && e.turns == nil || failing {
		return e.system.Do(e.ctx, b)
	}
	const other = -1
	var ops []agent.Op
	var of []int // by operation: which of b's it is
	add := func(i int, op agent.Op) { ops, of = append(ops, op), append(of, i) }
	numbers := make(map[int]int)
	for i, scope := range promises(b.Ops) {
		n := strconv.Itoa(len(e.calls))
		mark, ask := scope != 0 && e.account, scope != 0 && e.turns != nil
		if ask {
			add(other, agent.StrayThreads())
		}
		if mark {
			numbers[i] = len(e.calls)
			call := b.Ops[i].String()
			e.calls = append(e.calls, promise{name: strings.Fields(call)[0], call: call, scope: scope})
			add(other, agent.DiskMark(markBegin+n))
		}
		add(i, b.Ops[i])
		if mark {
			add(other, agent.DiskMark(markReturn+n))
		}
		if ask {
			add(other, agent.SettleThreads())
		}
	}
	b.Ops = ops
	done, err := e.system.Do(e.ctx, b)
	var results []agent.Result
	for i, r := range done.Results {
		switch n, is := numbers[of[i]]; {
		case of[i] == other && r.Errno != 0:
			err = errors.Join(err, fmt.Errorf("%v: %w", ops[i], r.Err()))
		case ops[i].Code == strayCode:
			err = errors.Join(err, e.turns.note(r.Data))
		case of[i] == other:
		default:
			if is {
				e.calls[n].kept = r.Errno == 0
			}
			results = append(results, r)
		}
	}
	done.Results = results
	return done, err
}

// waiting calls f, which waits for threads: that they run is as it has to be.
func (e *Env) waiting(f func() error) error {
	if e.turns == nil {
		return f()
	}
	if _, err := e.attend(agent.StrayThreads()); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err := e.attend(agent.SettleThreads())
	return err
}

// checkDurability holds the calls of a run's last step against the account of flushes, and returns the first that returned too early.
func (s *session) checkDurability(r *execution) (*Failure, error) {
	account := s.account()
	var numbers []uint32
	for _, d := range s.disks {
		numbers = append(numbers, d.Number)
	}
	last := false
	for ev, err := range crash.FromBios(undiscarded(s.each(r.records)), numbers...) {
		if err != nil {
			return nil, err
		}
		if ev.Kind != crash.Marked {
			if err := account.Add(ev); err != nil {
				return nil, err
			}
			continue
		}
		last = last || strings.HasPrefix(ev.Mark, markStep)
		if n, ok := promiseMark(ev.Mark, markBegin, r.calls); ok && last {
			if err := account.Begin(strconv.Itoa(n)); err != nil {
				return nil, err
			}
		}
		if n, ok := promiseMark(ev.Mark, markReturn, r.calls); ok && last {
			p := r.calls[n]
			d, early := account.Return(strconv.Itoa(n), p.scope, ev.At)
			if d.Call = p.call; early && p.kept {
				return &Failure{Kind: "not flushed: " + p.name, Text: d.String()}, nil
			}
		}
	}
	return nil, nil
}

func promiseMark(text, kind string, calls []promise) (int, bool) {
	rest, ok := strings.CutPrefix(text, kind)
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0 && n < len(calls)
}

// undiscarded leaves discards out: nothing depends on what is no longer used.
func undiscarded(records iter.Seq2[*ramdisk.Record, error]) iter.Seq2[*ramdisk.Record, error] {
	return func(yield func(*ramdisk.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Op == ramdisk.Discard {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
