package explore

import (
	"fmt"
	"slices"

	"fsward/explore/crash"
)

// A CrashUnit is the part of a write that is on a crash state as a whole or not at all.
type CrashUnit string

// The units.
const (
	BioUnit    CrashUnit = "bio"    // a whole write
	BlockUnit  CrashUnit = "block"  // 4 KiB, aligned: a page, or a block of most file systems
	SectorUnit CrashUnit = "sector" // 512 bytes
)

// CrashUnits returns all units.
func CrashUnits() []CrashUnit { return []CrashUnit{BioUnit, BlockUnit, SectorUnit} }

// Check returns an error if the unit is unknown. "" is valid, and means BioUnit.
func (u CrashUnit) Check() error {
	if u != "" && !slices.Contains(CrashUnits(), u) {
		return fmt.Errorf("crash unit %q: there are %v", u, CrashUnits())
	}
	return nil
}

// Bytes returns the unit for crash.Options: 0 for a whole write.
func (u CrashUnit) Bytes() uint64 {
	switch u {
	case BlockUnit:
		return crash.PageSize
	case SectorUnit:
		return crash.SectorSize
	}
	return 0
}

// A perspective restricts the crash states, so that an error is easier to understand (FiSC 6.3).
type perspective struct {
	name string // for people, and in CrashError.Perspective
	// restrict changes the options of a run. ok is false if the states that they give would not be
	// simpler than those of the run.
	restrict func(o *crash.Options) (ok bool)
}

// Names of the perspectives that put writes into any order.
const (
	anyOrder      = "whole writes in any order"
	anyPartsOrder = "any parts of writes in any order"
)

// widest names the perspective of the run itself, which comes after all others.
func widest(o crash.Options) string {
	if o.Torn || o.Unit > 0 {
		return anyPartsOrder
	}
	return anyOrder
}

// perspectives lists those before the widest one in the order of FiSC, the simplest first. Those of
// FiSC group sectors by the system call that wrote them; these group them by the write that reached
// the disk, since the kernel writes back what several calls have changed.
var perspectives = []perspective{
	{"whole writes in their order", func(o *crash.Options) bool {
		o.Unit, o.Torn, o.Order = 0, false, crash.InOrder
		return true
	}},
	{"writes in their order, the last one cut between two sectors", func(o *crash.Options) bool {
		cuts := o.Torn || o.Unit > 0
		o.Unit, o.Torn, o.Order = 0, true, crash.InOrder
		return cuts
	}},
	{anyOrder, func(o *crash.Options) bool {
		cuts := o.Torn || o.Unit > 0
		o.Unit, o.Torn = 0, false
		return cuts
	}},
	{"writes in their order, the last one with any of its parts", func(o *crash.Options) bool {
		o.Order, o.Torn = crash.OneBroken, false
		return o.Unit > 0
	}},
}

// viewed returns the options of a perspective; those of the run if it has no such name.
func viewed(o crash.Options, name string) crash.Options {
	for _, p := range perspectives {
		if p.name == name {
			p.restrict(&o)
		}
	}
	return o
}
