package explore

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/durable"
)

// A promise is a call that must make data durable before it returns.
type promise struct {
	name      string // the same for calls of one kind
	call      string // with its arguments
	scope     durable.Scope
	succeeded bool // a call that failed has promised nothing
}

// Prefixes of the marks in the log before and after a promise. Its number follows.
const (
	markBegin  = "begin "
	markReturn = "return "
)

// Promised calls f, which must make data durable before it returns nil: the data that it writes
// itself (durable.Own), or all data that was written before (durable.All). The explorer checks the
// account of flushes against that promise. Try and Do know which operations promise durability, so
// Promised is for commands. call names the call in failures.
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
	dwriteCode   = agent.Dwrite(0, 0, 0, 0).Code
	dwritesCode  = agent.Dwrites(0, 0, 0, 0).Code
	msyncCode    = agent.Msync(0, 0, 0).Code
	linkatCode   = agent.Linkat(0, "").Code
	unlinkCode   = agent.Unlink("").Code
	renameCode   = agent.Rename("", "", 0).Code
)

// openedFiles are the open files of a batch, by slot.
type openedFiles [agent.MaxSlots]struct {
	path    string // a name of the file; "": not known
	gone    bool   // it has no name
	through string // how it was opened: "O_SYNC", "O_DSYNC" or ""
}

// nameless reports whether the file in a slot has no name, or may have lost it in an earlier batch.
func (f *openedFiles) nameless(slot uint32) bool {
	return f[slot].gone || slot >= agent.FirstHeld && f[slot].path == ""
}

// neverNamed are the flags of a file that linkat(2) cannot give a name.
const neverNamed = unix.O_TMPFILE | unix.O_EXCL

// note follows an operation that changes the open files or their names.
func (f *openedFiles) note(o agent.Op) {
	slot, numbers, texts, _ := o.Fields()
	gone := ""
	switch file := &f[slot]; o.Code {
	case openCode:
		file.path, file.through = texts[0], ""
		file.gone = numbers[0]&neverNamed == neverNamed
		switch numbers[0] & unix.O_SYNC {
		case unix.O_SYNC:
			file.through = "O_SYNC"
		case unix.O_DSYNC:
			file.through = "O_DSYNC"
		}
	case linkatCode:
		file.path, file.gone = texts[0], false
	case unlinkCode:
		gone = texts[0]
	case renameCode:
		gone = texts[1]
	}
	for i := range f {
		f[i].gone = f[i].gone || gone != "" && f[i].path == gone
	}
}

// promises returns the promise of each operation. One without a scope promises nothing. A file
// whose name is gone looks like one that fsync did not keep: Btrfs does not log it
// (btrfs_log_inode_parent). A file of O_TMPFILE may still get a name.
func promises(ops []agent.Op) []promise {
	out := make([]promise, len(ops))
	var files openedFiles
	for i, o := range ops {
		files.note(o)
		slot, _, _, _ := o.Fields()
		call := o.String()
		name := strings.Fields(call)[0]
		switch o.Code {
		case fsyncCode, datasyncCode, msyncCode:
			if !files.nameless(slot) {
				out[i] = promise{name: name, call: call, scope: durable.Own}
			}
		case syncCode, syncfsCode:
			out[i] = promise{name: name, call: call, scope: durable.All}
		case writeCode, fillCode, dwriteCode, dwritesCode:
			if how := files[slot].through; how != "" && !files.nameless(slot) {
				out[i] = promise{name: how, call: call + " through " + how, scope: durable.Own}
			}
		}
	}
	return out
}

// A promiseMarker adds marks to the log before and after calls that promise durability, for the
// account of flushes.
type promiseMarker struct {
	passThrough
	calls []promise
}

// add adds a call, and returns its number as text.
func (m *promiseMarker) add(p promise) (number string) {
	m.calls = append(m.calls, p)
	return strconv.Itoa(len(m.calls) - 1)
}

func (m *promiseMarker) batch(_ *Env, r request, next sendBatch) (agent.Done, error) {
	if r.bare {
		return next(r)
	}
	var p padded
	calls := make(map[int]int) // from the index of an operation to the number of its call
	for i, made := range promises(r.Ops) {
		if made.scope == 0 {
			p.own(r.Ops[i])
			continue
		}
		calls[i] = len(m.calls)
		n := m.add(made)
		p.add(agent.DiskMark(markBegin + n))
		p.own(r.Ops[i])
		p.add(agent.DiskMark(markReturn + n))
	}
	r.Ops = p.ops
	done, err := next(r)
	done.Results, err = p.strip(done.Results, err, nil)
	for i, result := range done.Results {
		if n, is := calls[i]; is {
			m.calls[n].succeeded = result.Errno == 0
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
	m.calls[i].succeeded = true
	return e.mark(markReturn, n)
}
