package component

import (
	"slices"

	"fsward/explore"
	"fsward/explore/durable"
	"fsward/interp"
)

// An Account configures flush accounting: it lists the writes that need not be durable when a call
// like fsync returns.
type Account struct {
	// Copies exempts writes whose content is durable elsewhere on the disk: writes to the home block
	// of a block that the journal has.
	Copies bool `yaml:"copies"`
	// Spare exempts writes to these ranges of a disk, which hold copies of other blocks.
	Spare []byteRange `yaml:"spare"`
}

// A byteRange is a range of a disk, in bytes.
type byteRange struct {
	At    uint64 `yaml:"at"`
	Bytes uint64 `yaml:"bytes"`
}

// has reports whether the range contains n bytes at an offset.
func (r byteRange) has(off, n uint64) bool {
	return off >= r.At && off-r.At <= r.Bytes && n <= r.Bytes-(off-r.At)
}

// NewAccount returns a constructor of accounts of flushes for the disks of the stack below c,
// joined as crash.Join does. It returns nil if there is no flush accounting for the stack: a
// component has no Account, or its spare ranges are not directly on a disk.
func (c *Component) NewAccount() func() *durable.Account {
	stack := explore.Stack{Top: c}
	disks := stack.Disks()
	copies, spares := false, make([][]byteRange, len(disks)) // by disk
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
			isBelow := func(d *explore.Disk) bool { return explore.Component(d) == below }
			i := slices.IndexFunc(disks, isBelow)
			if i < 0 {
				return nil
			}
			spares[i] = append(spares[i], k.Kind.Account.Spare...)
		}
	}
	exempt := func(off, n uint64) bool {
		disk, off := interp.Locate(off)
		return slices.ContainsFunc(spares[disk], func(r byteRange) bool { return r.has(off, n) })
	}
	return func() *durable.Account { return &durable.Account{Copies: copies, Exempt: exempt} }
}
