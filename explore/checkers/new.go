package checkers

import (
	"fmt"
	"strings"

	"fsward/explore"
	"fsward/explore/model"
)

// Names returns the names of the checkers that New knows, each with its question.
func Names() [][2]string {
	return [][2]string{
		{"sync", "is data that was forced to the disk there after a crash?"},
		{"reasonable", "is the state recovered after a crash at any moment an allowed one?"},
		{"recovery", "as reasonable; is nothing left to repair, and is a second recovery the same?"},
		{"failed-syscalls", "do failed system calls have no effect, and all others their specified one?"},
		{"silent", "does a call report an error if a write or an allocation fails and data is lost?"},
		{"silent-allocations", "does a call report an error if an allocation fails at all?"},
		{"unmount", "is everything there after unmount and mount, and after a crash in between?"},
		{"leaks", "does using, mounting and unmounting leave memory in the kernel?"},
		{"leaks-failures", "does an operation leave memory in the kernel if an allocation fails?"},
	}
}

// New returns a checker by its name. A name that ends in .yaml or .yml is the file of a script. p
// are the promises of the storage.
func New(checker string, on Storage, p model.Promises, l Limits) (explore.Checker, error) {
	core := Core{At: on.Path(), Promises: p, Limits: l}
	switch checker {
	case "sync", "reasonable", "recovery":
		core.Watched = true
	}
	switch checker {
	case "sync":
		return &Sync{Core: core}, nil
	case "reasonable":
		return &Reasonable{core}, nil
	case "recovery":
		return &Recovery{Reasonable: Reasonable{core}, On: on}, nil
	case "failed-syscalls":
		return &Failed{Core: core, On: on, Disk: disk(on)}, nil
	case "silent":
		return &Silent{Core: core, On: on, Disk: disk(on), Allocations: silentAllocations}, nil
	case "silent-allocations":
		return &Silent{Core: core, On: on, Disk: disk(on), Allocations: 4 * silentAllocations,
			Strict: true}, nil
	case "unmount":
		return &Unmount{Core: core, On: on}, nil
	case "leaks":
		return &Leaks{Core: core, On: on}, nil
	case "leaks-failures":
		return &Leaks{Core: core, On: on, Failures: true}, nil
	}
	if strings.HasSuffix(checker, ".yaml") || strings.HasSuffix(checker, ".yml") {
		return LoadScript(checker, on.Path())
	}
	var names []string
	for _, n := range Names() {
		names = append(names, n[0])
	}
	return nil, fmt.Errorf("there is no checker %q; there are %s, and files that end in .yaml",
		checker, strings.Join(names, ", "))
}

// disk returns the number of the first disk below a component.
func disk(c explore.Component) uint32 {
	for _, d := range (explore.Stack{Top: c}).Disks() {
		return d.Number
	}
	return 0
}
