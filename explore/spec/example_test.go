package spec_test

import (
	"fmt"

	"fsward/explore/spec"
)

// A stack file describes disks, the components on them, and a checker. A run adds the options of
// the exploration.
func ExampleRead() {
	s, err := spec.Read("../../docs/examples/raid.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	cfg, err := spec.Run{Spec: s, Depth: 2}.Config()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range cfg.Stack.Components() {
		fmt.Println(c.Path())
	}
	// Output:
	// ext3 (-b 1024) on raid (-l raid1)
	// /dev/fswrd0
	// /dev/fswrd1
	// /dev/md0
	// /mnt/a
}

// FileSystem describes a single file system on one RAM disk.
func ExampleFileSystem() {
	s, err := spec.FileSystem("ext3", "sync", "-b 1024", "reasonable", "64M")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s, s.Disks, s.Layers[0].At)
	// Output:
	// ext3 -o sync (-b 1024) [67108864] /mnt/fsward
}
