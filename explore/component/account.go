package component

import (
	"slices"

	"fsward/explore"
	"fsward/explore/durable"
	"fsward/interp"
)

// Account says which writes need not be durable when a call returns that makes others so.
type Account struct {
	Copies bool    `yaml:"copies"` // those whose contents are durable elsewhere, too: the place of a block of which the journal has a copy
	Spare  []spare `yaml:"spare"`  // those to these places on a disk, which hold copies of what is elsewhere
}

// spare is a place, in bytes.
type spare struct {
	At    uint64 `yaml:"at"`
	Bytes uint64 `yaml:"bytes"`
}

func (s spare) has(off, n uint64) bool {
	return off >= s.At && off-s.At <= s.Bytes && n <= s.Bytes-(off-s.At)
}

// NewAccount returns what makes an account of flushes of the disks that a stack has, as crash.Join joins them. It is nil where
// none is kept, since what need not be durable is not known of one of the components, or not where on the disks it is.
func (c *Component) NewAccount() func() *durable.Account {
	stack := explore.Stack{Top: c}
	disks := stack.Disks()
	copies, spares := false, make([][]spare, len(disks)) // by disk
	for _, layer := range stack.Components() {
		if _, is := layer.(*explore.Disk); is {
			continue
		}
		k, is := layer.(*Component)
		if !is || k.Kind.Account == nil {
			return nil
		}
		copies = copies || k.Kind.Account.Copies
		if len(k.Kind.Account.Spare) == 0 {
			continue
		}
		for _, below := range k.On {
			i := slices.IndexFunc(disks, func(d *explore.Disk) bool { return explore.Component(d) == below })
			if i < 0 {
				return nil
			}
			spares[i] = append(spares[i], k.Kind.Account.Spare...)
		}
	}
	exempt := func(off, n uint64) bool {
		disk, off := interp.Locate(off)
		return slices.ContainsFunc(spares[disk], func(s spare) bool { return s.has(off, n) })
	}
	return func() *durable.Account { return &durable.Account{Copies: copies, Exempt: exempt} }
}
