package agent

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of one request or answer.
const (
	MaxArgs     = 1024          // arguments, and variables of the environment, of a Command
	MaxText     = 64 << 10      // bytes of one argument
	MaxPath     = 4096          // bytes of a path or a name: PATH_MAX
	MaxData     = 1 << 20       // bytes of one operation's data, or of one stream of a Command
	MaxOps      = 64 << 10      // operations of a Batch
	MaxKernel   = 64 << 10      // bytes of the end of the kernel's log in an answer
	maxTime     = time.Hour     // longest time-out
	maxCallText = maxCalls * 32 // bytes of the names of maxCalls system calls
	maxAnswer   = 3 << 20       // bytes of data of all results of a Batch
)

// Hello describes an agent and its guest.
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
	h := Hello{
		Release: d.text(MaxPath),
		BootID:  d.text(MaxPath),
		Uptime:  time.Duration(d.upTo(math.MaxInt64)),
	}
	return h, d.finish("hello")
}

// A Command is a program to run in the guest.
type Command struct {
	Args    []string      // the program, found in PATH, and its arguments
	Env     []string      // added to the agent's own environment
	Dir     string        // working directory; "" for /
	Stdin   []byte        // at most MaxData bytes
	Timeout time.Duration // in milliseconds; then the agent kills the process group
	Prefix  *Prefix       // nil: the command runs to its end
	Faults  *Faults       // nil: no call inside the kernel is made to fail
}

// Exit describes how a command ended.
type Exit struct {
	Code     int         // exit status; -1 if the command was killed
	Signal   unix.Signal // the signal that killed it, or 0
	TimedOut bool
	Stdout   []byte // the first MaxData bytes; the command gets EPERM for more
	Stderr   []byte // likewise
	Kernel   string // the kernel's log during the command
	// Calls is set for a Command with a Prefix: the names of the counted calls that were performed, a
	// line each, the first maxCalls of them.
	Calls string
	Cut   bool // the Prefix ended the command
	// Hits is set for a Command with Faults: DecodeHits reads it.
	Hits []byte
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
	b = appendFlag(b, c.Faults != nil)
	if c.Faults != nil {
		b = c.Faults.append(b)
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
	if d.flag() {
		f := d.faults()
		c.Faults = &f
	}
	if len(c.Args) == 0 {
		d.fail(fmt.Errorf("no program"))
	}
	return c, d.finish("command")
}

// timeout decodes a time-out in milliseconds, at most maxTime.
func (d *decoder) timeout() time.Duration {
	return time.Duration(d.upTo(uint64(maxTime.Milliseconds()))) * time.Millisecond
}

// texts decodes a list of at most MaxArgs texts.
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
	return appendBytes(appendFlag(appendBytes(b, e.Calls), e.Cut), e.Hits)
}

func decodeExit(p []byte) (e Exit, err error) {
	d := decoder{b: p}
	e = Exit{
		Code:     int(d.upTo(256)) - 1,
		Signal:   unix.Signal(d.upTo(128)),
		TimedOut: d.flag(),
		Stdout:   d.bytes(MaxData),
		Stderr:   d.bytes(MaxData),
		Kernel:   d.text(MaxKernel),
		Calls:    d.text(maxCallText),
		Cut:      d.flag(),
		Hits:     d.bytes(maxAnswer),
	}
	return e, d.finish("exit")
}

// A Batch is a list of operations, performed one after the other.
type Batch struct {
	Ops         []Op
	StopAtError bool          // end the batch at the first operation that fails
	Cover       bool          // record which code of the kernel the operations run
	Timeout     time.Duration // for the whole batch, in milliseconds
}

// A Result is the result of one operation.
type Result struct {
	Errno unix.Errno // 0: the operation succeeded
	Value uint64     // its meaning stands at the operation's constructor
	Data  []byte     // likewise
}

// Err returns the error number as an error, or nil.
func (r *Result) Err() error {
	if r.Errno == 0 {
		return nil
	}
	return r.Errno
}

// Done describes how a Batch ended.
type Done struct {
	// Results holds a result for each operation that ended, in order. Operations have no result after
	// the end of the batch by StopAtError or by its time-out.
	Results []Result
	// TimedOut means that the operation after the last result had begun when time was up. Its outcome
	// is unknown.
	TimedOut bool
	// Took is measured by the guest's clock. It is 0 if the clock went back, as an emulated clock
	// sometimes does.
	Took   time.Duration
	Kernel string // the kernel's log during the batch
	// Coverage is set if Batch.Cover was, unless time was up.
	Coverage *Coverage
}

func (c *Batch) encode() []byte {
	b := appendFlag(appendFlag(nil, c.StopAtError), c.Cover)
	b = appendNumber(b, uint64(c.Timeout.Milliseconds()))
	b = appendNumber(b, uint64(len(c.Ops)))
	for i := range c.Ops {
		b = c.Ops[i].append(b)
	}
	return b
}

func decodeBatch(p []byte) (c Batch, err error) {
	d := decoder{b: p}
	c.StopAtError, c.Cover, c.Timeout = d.flag(), d.flag(), d.timeout()
	for n := d.count(MaxOps); n > 0 && d.err == nil; n-- {
		c.Ops = append(c.Ops, d.op())
	}
	return c, d.finish("batch")
}

func (r *Done) encode() []byte {
	b := appendFlag(nil, r.TimedOut)
	b = appendNumber(b, uint64(max(r.Took, 0)))
	b = appendBytes(b, r.Kernel)
	b = appendFlag(b, r.Coverage != nil)
	if r.Coverage != nil {
		b = r.Coverage.append(b)
	}
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
	r = Done{
		TimedOut: d.flag(),
		Took:     time.Duration(d.upTo(math.MaxInt64)),
		Kernel:   d.text(MaxKernel),
	}
	if d.flag() {
		r.Coverage = d.coverage()
	}
	for n := d.count(MaxOps); n > 0 && d.err == nil; n-- {
		r.Results = append(r.Results, Result{
			Errno: unix.Errno(d.upTo(maxErrno)),
			Value: d.number(),
			Data:  d.bytes(maxAnswer),
		})
	}
	return r, d.finish("results")
}

// A logRequest asks for bytes of a log, of the RAM disks or of fsw_ekm.
type logRequest struct {
	most uint64        // largest number of bytes to return
	wait time.Duration // longest wait for the first byte, in milliseconds
}

func (r *logRequest) encode() []byte {
	return appendNumber(appendNumber(nil, r.most), uint64(r.wait.Milliseconds()))
}

func decodeLogRequest(p []byte) (logRequest, error) {
	d := decoder{b: p}
	r := logRequest{most: d.upTo(maxAnswer), wait: d.timeout()}
	return r, d.finish("log request")
}
