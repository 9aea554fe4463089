package ekm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/device"
)

var module = device.Module{Name: "fsw_ekm", ABI: ABI, Hello: cmdHello, Mark: cmdMark}

// Control is the open control device of the module. It is safe for concurrent use. Mark puts a text
// of 1 to MaxMark bytes into the log. Close closes the device and changes nothing in the module.
type Control struct{ *device.Control }

// Open opens the control device of the loaded module. It fails if the module has another version of
// the ABI.
func Open() (*Control, error) {
	c, err := module.Open()
	if err != nil {
		return nil, err
	}
	return &Control{c}, nil
}

// OpenLog opens the log for a Reader, as device.Module.OpenLog does.
func OpenLog() (*os.File, error) { return module.OpenLog() }

// Hello returns the state of the module.
func (c *Control) Hello() (h Hello, err error) {
	var b [helloSize]byte
	if err = c.Call("hello", cmdHello, b[:]); err == nil {
		h.decode(&b)
	}
	return h, err
}

// Choose takes the next choice and returns its value, 0 to n-1. n is 1 to MaxBound. site names the
// caller in at most MaxText bytes. A thread that is no member gets 0, and nothing is recorded.
func (c *Control) Choose(n uint32, site string) (uint32, error) {
	var b [chooseSize]byte
	le.PutUint32(b[0:], n)
	if err := putText(b[8:], site); err != nil {
		return 0, err
	}
	if err := c.Call("choose", cmdChoose, b[:]); err != nil {
		return 0, err
	}
	v := le.Uint32(b[4:])
	if v >= n {
		return 0, fmt.Errorf("choose: the value is %d, want less than %d", v, n)
	}
	return v, nil
}

// Load replaces the sequence of values that is replayed, at most MaxChoices. Choices after its end
// are 0.
func (c *Control) Load(values []uint32) error {
	for from := 0; from == 0 || from < len(values); from += valuesPer {
		var b [loadSize]byte
		piece := values[from:min(from+valuesPer, len(values))]
		le.PutUint32(b[0:], uint32(from))
		le.PutUint32(b[4:], uint32(len(piece)))
		for i, v := range piece {
			le.PutUint32(b[8+4*i:], v)
		}
		if err := c.Call("load", cmdLoad, b[:]); err != nil {
			return err
		}
	}
	return nil
}

// Start begins a run: the next choice is the first of the sequence. The loaded values stay.
func (c *Control) Start() error { return c.Call("start", cmdStart, nil) }

// State returns the state of the run.
func (c *Control) State() (r Run, err error) {
	var b [runSize]byte
	if err = c.Call("state", cmdState, b[:]); err == nil {
		r.decode(&b)
	}
	return r, err
}

// listAll repeats a command that lists at most per items of size bytes, until it has listed all
// items.
func listAll[T any](
	c *Control, what string, cmd uint32, per, size int, decode func(item []byte) (T, error),
) (out []T, err error) {
	for {
		b := make([]byte, 8+per*size)
		le.PutUint32(b, uint32(len(out)))
		if err := c.Call(what, cmd, b); err != nil {
			return nil, err
		}
		some, err := list(b, size, decode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		out = append(out, some...)
		if len(some) < per {
			return out, nil
		}
	}
}

// Taken returns the choices since Start, in order.
func (c *Control) Taken() ([]Choice, error) {
	return listAll(c, "choices", cmdTaken, choicesPer, choiceSize, func(b []byte) (Choice, error) {
		return decodeChoice((*[choiceSize]byte)(b))
	})
}

// Limit restricts a point to some call sites. The zero value is no restriction.
type Limit struct {
	Stack uint64 // hash of the call stack; 0: any
	// Symbol is on the call stack: "symbol" or "symbol+0xoffset", at most MaxText bytes. Empty: any.
	Symbol string
}

// Set sets the mode of a point in the kernel, and resets its counts. It fails with ENOENT if the
// kernel has none of the functions of the point.
func (c *Control) Set(p Point, mode Mode, limit Limit) error {
	var b [setSize]byte
	le.PutUint32(b[0:], uint32(p))
	le.PutUint32(b[4:], uint32(mode))
	le.PutUint64(b[8:], limit.Stack)
	if err := putText(b[16:], limit.Symbol); err != nil {
		return err
	}
	return c.Call("set "+p.String(), cmdSet, b[:])
}

// Stat returns the counts of a point in the kernel since it was set.
func (c *Control) Stat(p Point) (s PointStat, err error) {
	var b [statSize]byte
	le.PutUint32(b[:], uint32(p))
	if err = c.Call("stat of "+p.String(), cmdStat, b[:]); err == nil {
		s.decode(&b)
	}
	return s, err
}

// Sites returns the sites at which points were hit, in the order of the first hit.
func (c *Control) Sites() ([]Site, error) {
	return listAll(c, "sites", cmdSites, sitesPer, siteSize, func(b []byte) (Site, error) {
		return decodeSite((*[siteSize]byte)(b))
	})
}

const (
	kindTree   = 1 // FSW_EK_TREE
	kindThread = 2 // FSW_EK_THREAD
)

func (c *Control) member(what string, pid, kind uint32, on bool) error {
	var b [memberSize]byte
	le.PutUint32(b[0:], pid)
	le.PutUint32(b[4:], kind)
	if on {
		b[8] = 1
	}
	return c.Call(fmt.Sprintf("%s %d", what, pid), cmdMember, b[:])
}

// AddTree adds a process and its descendants to the checked system. A descendant leaves it when a
// process between the two ends, unless the process pid is a subreaper (prctl(2),
// PR_SET_CHILD_SUBREAPER).
func (c *Control) AddTree(pid uint32) error {
	return c.member("add the processes of", pid, kindTree, true)
}

// AddThread adds one thread, of the kernel or of a process, to the checked system.
func (c *Control) AddThread(pid uint32) error {
	return c.member("add thread", pid, kindThread, true)
}

// RemoveMember removes a thread or process with its descendants from the checked system.
func (c *Control) RemoveMember(pid uint32) error { return c.member("remove", pid, kindTree, false) }

// Device converts the device number of stat(2) to the kernel's dev_t.
func Device(rdev uint64) uint32 { return unix.Major(rdev)<<20 | unix.Minor(rdev)&(1<<20-1) }

// Watch switches the write-set log of a device on or off. At most MaxDevices can be watched.
func (c *Control) Watch(dev uint32, on bool) error {
	var b [watchSize]byte
	le.PutUint32(b[0:], dev)
	if on {
		b[4] = 1
	}
	return c.Call(fmt.Sprintf("watch %d:%d", dev>>20, dev&(1<<20-1)), cmdWatch, b[:])
}

// Log sets what is logged.
func (c *Control) Log(what What) error {
	var b [logSize]byte
	le.PutUint32(b[0:], uint32(what))
	return c.Call("log", cmdLog, b[:])
}
