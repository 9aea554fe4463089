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

// FailAt makes calls inside the kernel fail during the operations up to FailEnd: calls of the
// operations, and calls of threads of the kernel. The hits of points are numbered from 0 in the
// order of time; at lists the hits that fail, in rising order. FailAt fails with ENOENT or ENXIO if
// the module fsw_ekm is not loaded.
func FailAt(points []ekm.Point, at []uint32, threads ...uint32) Op {
	b := appendNumber(nil, uint64(len(points)))
	for _, p := range points {
		b = appendNumber(b, uint64(p))
	}
	b = appendNumber(b, uint64(len(at)))
	for _, n := range at {
		b = appendNumber(b, uint64(n))
	}
	b = appendNumber(b, uint64(len(threads)))
	for _, pid := range threads {
		b = appendNumber(b, uint64(pid))
	}
	return Op{Code: opFailAt, data: b}
}

// FailOff switches off what FailAt has switched on. Until then, the kernel is a little slower.
func FailOff() Op { return Op{Code: opFailOff} }

// FailEnd ends FailAt. Value is the number of hits; DecodeHits reads Data.
func FailEnd() Op { return Op{Code: opFailEnd} }

// FailsAt returns the hits that fail, of an operation that FailAt made. ok is false for any other
// operation. A System that is not a guest, such as one of a test, uses it.
func (o Op) FailsAt() (at []uint32, ok bool) {
	_, values, _, err := decodeFailAt(&o)
	for i, v := range values {
		if v != 0 {
			at = append(at, uint32(i))
		}
	}
	return at, o.Code == opFailAt && err == nil
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

// decodeFailAt decodes an operation that FailAt made. values has an element for each hit, up to the
// last one that fails: 1 to fail, 0 not to.
func decodeFailAt(o *Op) (points []ekm.Point, values, threads []uint32, err error) {
	d := decoder{b: o.data}
	for n := d.count(len(ekm.Points())); n > 0 && d.err == nil; n-- {
		points = append(points, ekm.Point(d.upTo(math.MaxUint32)))
	}
	for n := d.count(ekm.MaxChoices); n > 0 && d.err == nil; n-- {
		at := d.upTo(ekm.MaxChoices - 1)
		for uint64(len(values)) <= at {
			values = append(values, 0)
		}
		values[at] = 1
	}
	for n := d.count(ekm.MaxMembers - 1); n > 0 && d.err == nil; n-- {
		threads = append(threads, uint32(d.upTo(math.MaxUint32)))
	}
	return points, values, threads, d.finish("failures")
}

// failing performs FailAt and FailEnd.
type failing struct {
	ctl    *ekm.Control // nil outside of FailAt and FailEnd
	thread uint32       // the thread of the operations, whose calls can fail
	others []uint32     // threads of the kernel whose calls can fail
}

// begin performs FailAt. It adds the thread last, so that its own system calls hit no choice point.
func (f *failing) begin(o *Op) (err error) {
	if f.ctl != nil {
		return unix.EBUSY
	}
	points, values, threads, err := decodeFailAt(o)
	if err != nil {
		return err
	}
	if f.ctl, err = ekm.Open(); err != nil {
		return err
	}
	runtime.LockOSThread()
	f.thread = uint32(unix.Gettid())
	if err = f.switchOn(points); err == nil {
		err = errors.Join(f.ctl.Load(values), f.ctl.Start())
	}
	for _, pid := range threads {
		if err == nil {
			err = f.ctl.AddThread(pid)
			f.others = append(f.others, pid)
		}
	}
	if err == nil {
		err = f.ctl.AddThread(f.thread)
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
	_ = f.ctl.RemoveMember(f.thread)
	for _, pid := range f.others {
		_ = f.ctl.RemoveMember(pid)
	}
	taken, err := f.ctl.Taken()
	for _, c := range taken {
		hits = append(hits, Hit{c.Point, c.Stack, c.Value != 0, c.Site})
	}
	err = errors.Join(err, f.ctl.Close())
	*f = failing{}
	runtime.UnlockOSThread()
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
