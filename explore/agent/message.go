package agent

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of what one request or answer holds.
const (
	MaxArgs   = 1024      // arguments, or variables of the environment, of a Command
	MaxText   = 64 << 10  // bytes of one argument
	MaxPath   = 4096      // bytes of a path or a name: PATH_MAX
	MaxData   = 1 << 20   // bytes of data of one operation, of standard input and of each output of a Command
	MaxOps    = 64 << 10  // operations of a Batch
	MaxKernel = 64 << 10  // bytes of the kernel's log that come with an answer: the last ones
	maxTime   = time.Hour // of a time-out
	// maxCallText is room for maxCalls names of system calls.
	maxCallText = maxCalls * 32
	maxAnswer   = 3 << 20 // bytes of data of all results of a Batch
)

// Hello is what an agent says of itself.
type Hello struct {
	Release string        // of the kernel: uname -r
	BootID  string        // of this boot: /proc/sys/kernel/random/boot_id
	Uptime  time.Duration // CLOCK_BOOTTIME
}

func (h *Hello) encode() []byte {
	b := appendBytes(nil, h.Release)
	b = appendBytes(b, h.BootID)
	return appendNumber(b, uint64(h.Uptime))
}

func decodeHello(p []byte) (Hello, error) {
	d := decoder{b: p}
	h := Hello{Release: d.text(MaxPath), BootID: d.text(MaxPath), Uptime: time.Duration(d.upTo(math.MaxInt64))}
	return h, d.finish("hello")
}

// A Command is a program to run in the guest.
type Command struct {
	Args    []string      // the program, found in PATH, and its arguments
	Env     []string      // added to the agent's own environment
	Dir     string        // "" for /
	Stdin   []byte        // at most MaxData
	Timeout time.Duration // to the millisecond; then it and what it has started is killed
	Prefix  *Prefix       // nil: it runs to its end
}

// Exit is how a command ended.
type Exit struct {
	Code     int         // exit status; -1 if it did not end by itself
	Signal   unix.Signal // that killed it, or 0
	TimedOut bool
	Stdout   []byte // the first MaxData bytes; the command gets EPERM for more
	Stderr   []byte // likewise
	Kernel   string // what the kernel has logged meanwhile
	Calls    string // of a Command with a Prefix: the names of the calls that were done, each with a line feed, the first maxCalls
	Cut      bool   // likewise: it was ended there
}

func (c *Command) encode() []byte {
	b := appendStrings(nil, c.Args)
	b = appendStrings(b, c.Env)
	b = appendBytes(b, c.Dir)
	b = appendBytes(b, c.Stdin)
	b = appendNumber(b, uint64(c.Timeout.Milliseconds()))
	b = appendFlag(b, c.Prefix != nil)
	if c.Prefix != nil {
		b = appendNumber(appendBytes(b, c.Prefix.At), c.Prefix.Calls)
	}
	return b
}

func decodeCommand(p []byte) (c Command, err error) {
	d := decoder{b: p}
	c.Args, c.Env = d.texts(), d.texts()
	c.Dir, c.Stdin, c.Timeout = d.text(MaxPath), d.bytes(MaxData), d.timeout()
	if d.flag() {
		c.Prefix = &Prefix{At: d.text(MaxPath), Calls: d.number()}
	}
	if len(c.Args) == 0 {
		d.fail(fmt.Errorf("no program"))
	}
	return c, d.finish("command")
}

func (d *decoder) timeout() time.Duration {
	return time.Duration(d.upTo(uint64(maxTime.Milliseconds()))) * time.Millisecond
}

func (d *decoder) texts() (out []string) {
	for n := d.count(MaxArgs); n > 0 && d.err == nil; n-- {
		out = append(out, d.text(MaxText))
	}
	return out
}

func appendStrings(b []byte, list []string) []byte {
	b = appendNumber(b, uint64(len(list)))
	for _, s := range list {
		b = appendBytes(b, s)
	}
	return b
}

func (e *Exit) encode() []byte {
	b := appendNumber(nil, uint64(e.Code+1))
	b = appendNumber(b, uint64(e.Signal))
	b = appendFlag(b, e.TimedOut)
	b = appendBytes(b, e.Stdout)
	b = appendBytes(b, e.Stderr)
	b = appendBytes(b, e.Kernel)
	return appendFlag(appendBytes(b, e.Calls), e.Cut)
}

func decodeExit(p []byte) (e Exit, err error) {
	d := decoder{b: p}
	e = Exit{Code: int(d.upTo(256)) - 1, Signal: unix.Signal(d.upTo(128)), TimedOut: d.flag(),
		Stdout: d.bytes(MaxData), Stderr: d.bytes(MaxData), Kernel: d.text(MaxKernel), Calls: d.text(maxCallText), Cut: d.flag()}
	return e, d.finish("exit")
}

// A Batch is a list of operations, performed one after the other.
type Batch struct {
	Ops         []Op
	StopAtError bool          // what follows an operation that failed is left out
	Timeout     time.Duration // to the millisecond, of all together
}

// A Result is what an operation gave.
type Result struct {
	Errno unix.Errno // 0: it succeeded
	Value uint64     // what the operation's constructor says
	Data  []byte     // likewise
}

// Err is the error number, or nil.
func (r *Result) Err() error {
	if r.Errno == 0 {
		return nil
	}
	return r.Errno
}

// Done is what a Batch gave.
type Done struct {
	Results  []Result      // of the first operations, in order: all of them, unless it stopped or its time was up
	TimedOut bool          // the operation after the last result was under way; nobody knows what became of it
	Took     time.Duration // by the guest's clock; 0 where that went back, as an emulated one does now and then
	Kernel   string        // what the kernel has logged meanwhile
}

func (c *Batch) encode() []byte {
	b := appendFlag(nil, c.StopAtError)
	b = appendNumber(b, uint64(c.Timeout.Milliseconds()))
	b = appendNumber(b, uint64(len(c.Ops)))
	for i := range c.Ops {
		b = c.Ops[i].append(b)
	}
	return b
}

func decodeBatch(p []byte) (c Batch, err error) {
	d := decoder{b: p}
	c.StopAtError, c.Timeout = d.flag(), d.timeout()
	for n := d.count(MaxOps); n > 0 && d.err == nil; n-- {
		c.Ops = append(c.Ops, d.op())
	}
	return c, d.finish("batch")
}

func (r *Done) encode() []byte {
	b := appendFlag(nil, r.TimedOut)
	b = appendNumber(b, uint64(max(r.Took, 0)))
	b = appendBytes(b, r.Kernel)
	b = appendNumber(b, uint64(len(r.Results)))
	for i := range r.Results {
		b = appendNumber(b, uint64(r.Results[i].Errno))
		b = appendNumber(b, r.Results[i].Value)
		b = appendBytes(b, r.Results[i].Data)
	}
	return b
}

// maxErrno is MAX_ERRNO of linux/err.h.
const maxErrno = 4095

func decodeDone(p []byte) (r Done, err error) {
	d := decoder{b: p}
	r = Done{TimedOut: d.flag(), Took: time.Duration(d.upTo(math.MaxInt64)), Kernel: d.text(MaxKernel)}
	for n := d.count(MaxOps); n > 0 && d.err == nil; n-- {
		r.Results = append(r.Results, Result{Errno: unix.Errno(d.upTo(maxErrno)), Value: d.number(), Data: d.bytes(maxAnswer)})
	}
	return r, d.finish("results")
}

// logRequest asks for bytes of a log: of the RAM disks', or of that of fsw_ekm.
type logRequest struct {
	most uint64        // bytes
	wait time.Duration // for the first byte, to the millisecond
}

func (r *logRequest) encode() []byte {
	return appendNumber(appendNumber(nil, r.most), uint64(r.wait.Milliseconds()))
}

func decodeLogRequest(p []byte) (logRequest, error) {
	d := decoder{b: p}
	r := logRequest{most: d.upTo(maxAnswer), wait: d.timeout()}
	return r, d.finish("log request")
}
