package checkers

import (
	"fmt"
	"strings"

	"fsward/explore"
	"fsward/explore/model"
)

// Names lists the checkers that New has, with what each asks.
func Names() [][2]string {
	return [][2]string{
		{"sync", "is what was forced to the disk there after a crash?"},
		{"reasonable", "is what is recovered after a crash at any moment what may be there?"},
		{"recovery", "the same, and has the recovery left nothing to repair, and gives the same again?"},
		{"failed-syscalls", "have system calls that fail no effect, and all others the one that they should?"},
		{"silent", "is a disk that fails told of?"},
		{"unmount", "is all there when it was unmounted and is mounted again, and after a crash in between?"},
		{"leaks", "does mounting, using and unmounting leave something in the kernel?"},
	}
}

// New makes a checker by its name, or from a script in a file that ends in .yaml, on storage of which p is promised.
func New(checker string, on Storage, p model.Promises, l Limits) (explore.Checker, error) {
	core := Core{At: on.Path(), Promises: p, Limits: l}
	switch checker {
	case "sync":
		return &Sync{core}, nil
	case "reasonable":
		return &Reasonable{core}, nil
	case "recovery":
		return &Recovery{Reasonable: Reasonable{core}, On: on}, nil
	case "failed-syscalls":
		return &Failed{Core: core, Disk: disk(on)}, nil
	case "silent":
		return &Silent{Core: core, On: on, Disk: disk(on)}, nil
	case "unmount":
		return &Unmount{Core: core, On: on}, nil
	case "leaks":
		return &Leaks{Core: core, On: on}, nil
	}
	if strings.HasSuffix(checker, ".yaml") || strings.HasSuffix(checker, ".yml") {
		return LoadScript(checker, on.Path())
	}
	var names []string
	for _, n := range Names() {
		names = append(names, n[0])
	}
	return nil, fmt.Errorf("there is no checker %q; there are %s, and files that end in .yaml", checker, strings.Join(names, ", "))
}

// disk is the number of the first disk under storage.
func disk(c explore.Component) uint32 {
	for _, d := range (explore.Stack{Top: c}).Disks() {
		return d.Number
	}
	return 0
}
