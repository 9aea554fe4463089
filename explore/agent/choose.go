package agent

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// A KernelChoice is a choice that code of the kernel took by fsw_ekm_choose().
type KernelChoice struct {
	Bound uint32 // number of alternatives, at least 2
	Value uint32 // 0 to Bound-1
	Site  string // call site
}

// maxChosen bounds the choices that TakenChoices returns. More are an error.
const maxChosen = 4096

// LoadChoices makes the next choices of the kernel take values, and later ones 0. It makes all
// processes that the agent starts, and the agent itself, members of fsw_ekm. The choices last from
// one request to the next, until TakenChoices. LoadChoices fails with ENOENT or ENXIO if the module
// fsw_ekm is not loaded.
func LoadChoices(values []uint32) Op {
	b := appendNumber(nil, uint64(len(values)))
	for _, v := range values {
		b = appendNumber(b, uint64(v))
	}
	return Op{Code: opLoadChoices, data: b}
}

// TakenChoices ends LoadChoices. DecodeChoices reads Data: the choices that were taken. It fails
// with EOVERFLOW if there are more than 4,096.
func TakenChoices() Op { return Op{Code: opTakenChoices} }

// LoadedChoices returns the values of an operation that LoadChoices made. ok is false for any other
// operation. A System that is not a guest, such as one of a test, uses it.
func (o Op) LoadedChoices() (values []uint32, ok bool) {
	values, err := decodeLoadChoices(&o)
	return values, o.Code == opLoadChoices && err == nil
}

func decodeLoadChoices(o *Op) (values []uint32, err error) {
	d := decoder{b: o.data}
	for n := d.count(ekm.MaxChoices); n > 0 && d.err == nil; n-- {
		values = append(values, uint32(d.upTo(ekm.MaxBound)))
	}
	return values, d.finish("choices")
}

// EncodeChoices returns the Data of TakenChoices.
func EncodeChoices(list []KernelChoice) []byte {
	var b []byte
	for _, c := range list {
		b = appendNumber(b, uint64(c.Bound))
		b = appendNumber(b, uint64(c.Value))
		b = appendBytes(b, c.Site)
	}
	return b
}

// DecodeChoices reads the Data of TakenChoices.
func DecodeChoices(data []byte) (out []KernelChoice, err error) {
	d := decoder{b: data}
	for len(d.b) > 0 && d.err == nil && len(out) < maxChosen {
		c := KernelChoice{
			Bound: uint32(d.upTo(ekm.MaxBound)),
			Value: uint32(d.upTo(math.MaxUint32)),
			Site:  d.text(MaxPath),
		}
		if d.err == nil && (c.Bound < 2 || c.Value >= c.Bound) {
			d.fail(errors.New("a choice is outside its bound"))
		}
		out = append(out, c)
	}
	return out, d.finish("choices")
}

// loadChoices performs LoadChoices.
func loadChoices(o *Op) error {
	values, err := decodeLoadChoices(o)
	if err != nil {
		return err
	}
	ctl, err := ekm.Open()
	if err != nil {
		return err
	}
	return errors.Join(ctl.Load(values), ctl.Start(), ctl.AddTree(uint32(os.Getpid())), ctl.Close())
}

// takenChoices performs TakenChoices. Choices of points that fail calls are left out.
func takenChoices() (data []byte, err error) {
	ctl, err := ekm.Open()
	if err != nil {
		return nil, err
	}
	taken, err := ctl.Taken()
	err = errors.Join(err, ctl.RemoveMember(uint32(os.Getpid())), ctl.Load(nil), ctl.Close())
	if len(taken) > maxChosen {
		err = errors.Join(err, unix.EOVERFLOW)
	}
	var out []KernelChoice
	for _, c := range taken[:min(len(taken), maxChosen)] {
		if c.Point == ekm.Call {
			out = append(out, KernelChoice{c.Bound, c.Value, c.Site})
		}
	}
	return EncodeChoices(out), err
}
