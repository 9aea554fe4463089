package agent

import (
	"errors"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// A Hit is one pass of the kernel through a choice point of fsw_ekm, at which a call could have
// been made to fail.
type Hit struct {
	Point  ekm.Point
	Stack  uint64 // hash of the call stack
	Failed bool   // the call was made to fail
	Site   string // call site
}

// maxHits bounds the hits that FailEnd returns. It returns the first ones.
const maxHits = 4096

// Faults says which calls inside the kernel fail.
type Faults struct {
	Points []ekm.Point
	// At lists the hits of these points that fail, in rising order. Hits are numbered from 0 in the
	// order of time.
	At      []uint32
	Threads []uint32 // threads of the kernel whose calls can fail, too
}

func (f *Faults) append(b []byte) []byte {
	b = appendNumber(b, uint64(len(f.Points)))
	for _, p := range f.Points {
		b = appendNumber(b, uint64(p))
	}
	for _, list := range [][]uint32{f.At, f.Threads} {
		b = appendNumber(b, uint64(len(list)))
		for _, n := range list {
			b = appendNumber(b, uint64(n))
		}
	}
	return b
}

// faults decodes what Faults.append made.
func (d *decoder) faults() (f Faults) {
	for n := d.count(len(ekm.Points())); n > 0 && d.err == nil; n-- {
		f.Points = append(f.Points, ekm.Point(d.upTo(math.MaxUint32)))
	}
	for n := d.count(ekm.MaxChoices); n > 0 && d.err == nil; n-- {
		f.At = append(f.At, uint32(d.upTo(ekm.MaxChoices-1)))
	}
	for n := d.count(ekm.MaxMembers - 1); n > 0 && d.err == nil; n-- {
		f.Threads = append(f.Threads, uint32(d.upTo(math.MaxUint32)))
	}
	return f
}

// values returns an element for each hit, up to the last one that fails: 1 to fail, 0 not to.
func (f *Faults) values() (out []uint32) {
	for _, at := range f.At {
		for uint32(len(out)) <= at {
			out = append(out, 0)
		}
		out[at] = 1
	}
	return out
}

// FailAt makes calls inside the kernel fail during the operations up to FailEnd: calls of the
// operations, and calls of threads of the kernel. See Faults. FailAt fails with ENOENT or ENXIO if
// the module fsw_ekm is not loaded.
func FailAt(points []ekm.Point, at []uint32, threads ...uint32) Op {
	f := Faults{points, at, threads}
	return Op{Code: opFailAt, data: f.append(nil)}
}

// FailOff switches off what FailAt has switched on. Until then, the kernel is a little slower.
func FailOff() Op { return Op{Code: opFailOff} }

// FailEnd ends FailAt. Value is the number of hits; DecodeHits reads Data.
func FailEnd() Op { return Op{Code: opFailEnd} }

// FailsAt returns the hits that fail, of an operation that FailAt made. ok is false for any other
// operation. A System that is not a guest, such as one of a test, uses it.
func (o Op) FailsAt() (at []uint32, ok bool) {
	f, err := decodeFailAt(&o)
	return f.At, o.Code == opFailAt && err == nil
}

// EncodeHits returns the Data of FailEnd for the first maxHits of hits.
func EncodeHits(hits []Hit) []byte {
	var b []byte
	for _, h := range hits[:min(len(hits), maxHits)] {
		b = appendNumber(b, uint64(h.Point))
		b = appendNumber(b, h.Stack)
		b = appendFlag(b, h.Failed)
		b = appendBytes(b, h.Site)
	}
	return b
}

// DecodeHits reads the Data of FailEnd.
func DecodeHits(data []byte) (out []Hit, err error) {
	d := decoder{b: data}
	for len(d.b) > 0 && d.err == nil && len(out) < maxHits {
		out = append(out, Hit{
			Point:  ekm.Point(d.upTo(math.MaxUint32)),
			Stack:  d.number(),
			Failed: d.flag(),
			Site:   d.text(MaxPath),
		})
	}
	return out, d.finish("hits")
}

// decodeFailAt decodes an operation that FailAt made.
func decodeFailAt(o *Op) (Faults, error) {
	d := decoder{b: o.data}
	f := d.faults()
	return f, d.finish("failures")
}

// failing makes calls inside the kernel fail.
type failing struct {
	ctl    *ekm.Control // nil: no calls fail
	member uint32       // the thread or the process whose calls can fail; 0: none yet
	others []uint32     // threads of the kernel whose calls can fail
	locked bool         // the goroutine keeps its thread
}

// begin performs FailAt. It adds the thread last, so that its own system calls hit no choice point.
func (f *failing) begin(o *Op) error {
	plan, err := decodeFailAt(o)
	if err != nil {
		return err
	}
	if err := f.open(&plan); err != nil {
		return err
	}
	runtime.LockOSThread()
	f.member, f.locked = uint32(unix.Gettid()), true
	if err := f.ctl.AddThread(f.member); err != nil {
		_, _ = f.end()
		return err
	}
	return nil
}

// open prepares a plan. Until a thread or a process is added, only calls of threads of the kernel
// can fail.
func (f *failing) open(plan *Faults) (err error) {
	if f.ctl != nil {
		return unix.EBUSY
	}
	if f.ctl, err = ekm.Open(); err != nil {
		return err
	}
	if err = f.switchOn(plan.Points); err == nil {
		err = errors.Join(f.ctl.Load(plan.values()), f.ctl.Start())
	}
	for _, pid := range plan.Threads {
		if err == nil {
			err = f.ctl.AddThread(pid)
			f.others = append(f.others, pid)
		}
	}
	if err != nil {
		_, _ = f.end()
	}
	return err
}

// switchOn switches exactly these points on. A change of a point changes the kernel's text, which
// takes long, so that they stay on after FailEnd. Without a member, nothing fails.
func (f *failing) switchOn(points []ekm.Point) error {
	for _, p := range ekm.Points() {
		stat, err := f.ctl.Stat(p)
		if err != nil {
			return err
		}
		want := ekm.Off
		if slices.Contains(points, p) {
			want = ekm.On
		}
		if stat.Mode == want {
			continue
		}
		if err := f.ctl.Set(p, want, ekm.Limit{}); err != nil {
			return err
		}
	}
	return nil
}

// end performs FailEnd: it returns the hits. The choice points stay on.
func (f *failing) end() (hits []Hit, err error) {
	if f.ctl == nil {
		return nil, unix.EINVAL
	}
	// The thread comes first, so that the calls below hit no choice point. It may not be a member.
	_ = f.ctl.RemoveMember(f.member)
	for _, pid := range f.others {
		_ = f.ctl.RemoveMember(pid)
	}
	taken, err := f.ctl.Taken()
	for _, c := range taken {
		hits = append(hits, Hit{c.Point, c.Stack, c.Value != 0, c.Site})
	}
	err = errors.Join(err, f.ctl.Close())
	if f.locked {
		runtime.UnlockOSThread()
	}
	*f = failing{}
	return hits, err
}

// off performs FailOff.
func (f *failing) off() (err error) {
	if f.ctl != nil {
		return unix.EBUSY
	}
	if f.ctl, err = ekm.Open(); err != nil {
		return err
	}
	err = errors.Join(f.switchOn(nil), f.ctl.Close())
	f.ctl = nil
	return err
}
