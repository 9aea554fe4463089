package explore

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/durable"
)

// A promise is a call that must make something durable before it returns.
type promise struct {
	name  string // the same for calls of one kind
	call  string // with its arguments
	scope durable.Scope
	kept  bool // it returned with success: a call that failed has promised nothing
}

// Prefixes of the marks in the log around a promise. Its number follows.
const (
	markBegin  = "begin "
	markReturn = "return "
)

// Promised calls f, which must make something durable before it returns without an error: what it
// writes itself (durable.Own), or all that was written before (durable.All). The account of flushes
// is checked against that promise. Try and Do know the operations that promise; Promised is for
// commands.
func (e *Env) Promised(call string, scope durable.Scope, f func() error) error {
	return e.sendPromised(0, promise{name: call, call: call, scope: scope}, f)
}

// Operations that promise durability, some of them only on files that were opened for it.
var (
	openCode     = agent.Open(0, "", 0, 0).Code
	fsyncCode    = agent.Fsync(0).Code
	datasyncCode = agent.Fdatasync(0).Code
	syncfsCode   = agent.Syncfs(0).Code
	syncCode     = agent.Sync().Code
	writeCode    = agent.Write(0, 0, nil).Code
	fillCode     = agent.Fill(0, 0, 0, 0).Code
)

// promises returns what each operation of a batch promises; 0: nothing.
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

// A promiseMarker puts marks into the log around calls that promise durability, for the account of
// flushes.
type promiseMarker struct {
	passThrough
	calls []promise
}

// add returns the number of a call, as text.
func (m *promiseMarker) add(p promise) (number string) {
	m.calls = append(m.calls, p)
	return strconv.Itoa(len(m.calls) - 1)
}

func (m *promiseMarker) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if r.bare {
		return next(r)
	}
	var p padded
	calls := make(map[int]int) // by operation of the request: the number of its call
	for i, scope := range promises(r.Ops) {
		if scope == 0 {
			p.own(r.Ops[i])
			continue
		}
		calls[i] = len(m.calls)
		call := r.Ops[i].String()
		n := m.add(promise{name: strings.Fields(call)[0], call: call, scope: scope})
		p.add(agent.DiskMark(markBegin + n))
		p.own(r.Ops[i])
		p.add(agent.DiskMark(markReturn + n))
	}
	r.Ops = p.ops
	done, err := next(r)
	done.Results, err = p.strip(done.Results, err, nil)
	for i, result := range done.Results {
		if n, is := calls[i]; is {
			m.calls[n].kept = result.Errno == 0
		}
	}
	return done, err
}

func (m *promiseMarker) promised(e *Env, p promise, next func() error) error {
	i := len(m.calls) // next may add more
	n := m.add(p)
	if err := e.mark(markBegin, n); err != nil {
		return err
	}
	if err := next(); err != nil {
		return err
	}
	m.calls[i].kept = true
	return e.mark(markReturn, n)
}
