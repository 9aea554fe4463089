package agent

import (
	"errors"
	"math"
	"runtime"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// A Hit is a place in the kernel that could have failed: a choice of fsw_ekm.
type Hit struct {
	Point  ekm.Point
	Stack  uint64 // hash of the call stack
	Failed bool
	Site   string
}

// maxHits bounds the hits that FailEnd tells of: the first ones.
const maxHits = 4096

// FailAt has the operations up to FailEnd fail inside the kernel where points are hit for the n-th time, from 0, for each n of at,
// which rise. The module fsw_ekm has to be loaded; else ENOENT or ENXIO.
func FailAt(points []ekm.Point, at []uint32) Op {
	b := appendNumber(nil, uint64(len(points)))
	for _, p := range points {
		b = appendNumber(b, uint64(p))
	}
	b = appendNumber(b, uint64(len(at)))
	for _, n := range at {
		b = appendNumber(b, uint64(n))
	}
	return Op{Code: opFailAt, data: b}
}

// FailEnd ends FailAt. Data is for DecodeHits.
func FailEnd() Op { return Op{Code: opFailEnd} }

// FailsAt returns which hits an operation that FailAt made has fail; ok is false of any other. For machines that are no guests.
func (o Op) FailsAt() (at []uint32, ok bool) {
	_, values, err := decodeFailAt(&o)
	for i, v := range values {
		if v != 0 {
			at = append(at, uint32(i))
		}
	}
	return at, o.Code == opFailAt && err == nil
}

// EncodeHits makes the Data of FailEnd.
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
		out = append(out, Hit{ekm.Point(d.upTo(math.MaxUint32)), d.number(), d.flag(), d.text(MaxPath)})
	}
	return out, d.finish("hits")
}

// decodeFailAt reads what FailAt has put into an operation: values for the module.
func decodeFailAt(o *Op) (points []ekm.Point, values []uint32, err error) {
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
	return points, values, d.finish("failures")
}

// failing is what FailAt has begun.
type failing struct {
	ctl    *ekm.Control
	points []ekm.Point
	thread uint32
}

// begin has the thread choose. It is the last thing that is done, so that what switching takes is no choice.
func (f *failing) begin(o *Op) (err error) {
	if f.ctl != nil {
		return unix.EBUSY
	}
	points, values, err := decodeFailAt(o)
	if err != nil {
		return err
	}
	if f.ctl, err = ekm.Open(); err != nil {
		return err
	}
	runtime.LockOSThread()
	f.thread = uint32(unix.Gettid())
	for _, p := range points {
		if err = f.ctl.Set(p, ekm.On, ekm.Limit{}); err != nil {
			break
		}
		f.points = append(f.points, p)
	}
	if err == nil {
		err = errors.Join(f.ctl.Load(values), f.ctl.Start())
	}
	if err == nil {
		err = f.ctl.AddThread(f.thread)
	}
	if err != nil {
		_, _ = f.end()
	}
	return err
}

// end switches everything off and returns what was hit.
func (f *failing) end() (hits []Hit, err error) {
	if f.ctl == nil {
		return nil, unix.EINVAL
	}
	_ = f.ctl.RemoveMember(f.thread) // first, and it may not be one
	for _, p := range f.points {
		err = errors.Join(err, f.ctl.Set(p, ekm.Off, ekm.Limit{}))
	}
	taken, e := f.ctl.Taken()
	for _, c := range taken {
		hits = append(hits, Hit{c.Point, c.Stack, c.Value != 0, c.Site})
	}
	err = errors.Join(err, e, f.ctl.Close())
	*f = failing{}
	runtime.UnlockOSThread()
	return hits, err
}
