package main

import (
	"encoding/json"
	"flag"
	"os"

	"fsward/dev/mix"
)

// shapeOptions are the flags of loads that scale with n, in place of a profile.
type shapeOptions struct {
	mixture, snapshots string
	seed               uint64
	fs                 string
	collide, phase, n  int
	nested             bool
}

func (o *shapeOptions) define() {
	flag.StringVar(&o.mixture, "mixture", "", "only run a phase of the mixture in `FILE`, with -n")
	flag.StringVar(&o.fs, "random", "",
		"only run all phases of a mixture for the file system `FS` that -seed determines, with -n")
	flag.IntVar(&o.phase, "phase", 0, "`NUMBER` of the phase")
	flag.IntVar(&o.n, "n", 1000, "`N` operations in a phase, or snapshots")
	flag.IntVar(&o.collide, "collide", 0,
		"only make `N` empty files, 32 names to a hash of Btrfs")
	flag.StringVar(&o.snapshots, "snapshots", "",
		"only take -n snapshots of the subvolume `PATH` at the same time")
	flag.BoolVar(&o.nested, "nested", false,
		"with -snapshots: in -n new subvolumes, each in the one before")
}

func (o *shapeOptions) chosen() bool {
	return o.mixture != "" || o.fs != "" || o.collide > 0 || o.snapshots != ""
}

// run makes the load in a directory.
func (o *shapeOptions) run(dir string) error {
	switch {
	case o.collide > 0:
		return mix.MakeColliding(dir, o.collide, 32)
	case o.snapshots != "" && o.nested:
		return mix.NestedSnapshots(o.snapshots, dir, o.n)
	case o.snapshots != "":
		return mix.Snapshots(o.snapshots, dir, o.n)
	case o.fs != "":
		m := mix.Random(o.fs, o.seed)
		for phase := range m.Phases {
			if err := mix.Run(dir, m, phase, o.n); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := os.ReadFile(o.mixture)
	if err != nil {
		return err
	}
	var m mix.Mixture
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	return mix.Run(dir, m, o.phase, o.n)
}
