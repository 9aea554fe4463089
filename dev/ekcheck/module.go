package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// chooser is the module that asks fsw_ekm for choices: guest-kmod/fsw_choosetest.c.
var chooser = guestcheck.Module{Name: "fsw_choosetest", Params: "bound=3"}

// answers loads it in this thread, and returns what it was given there, and in an interrupt.
func answers() (thread, interrupt string, err error) {
	if err := guestcheck.Load(chooser); err != nil {
		return "", "", err
	}
	var said [3]string
	for i, name := range []string{"in_thread", "in_interrupt", "allocated"} {
		b, e := os.ReadFile("/sys/module/" + chooser.Name + "/parameters/" + name)
		said[i] = strings.TrimSpace(string(b))
		err = errors.Join(err, e)
	}
	if said[2] != "Y" {
		err = errors.Join(err, errors.New("the interrupt was given no memory"))
	}
	return said[0], said[1], errors.Join(err, guestcheck.Unload(chooser))
}

// checkModule: another module of the kernel chooses, in a thread of the checked system; in any other, and in an interrupt, it passes
// and is counted. So is what an interrupt allocates, while allocations are looked at.
func checkModule(c *ekm.Control) error {
	var slab ekm.PointStat
	err := asMember(c, func() error {
		if err := errors.Join(c.Load([]uint32{2}), c.Start(), c.Set(ekm.Slab, ekm.Count, ekm.Limit{Symbol: "no_such"})); err != nil {
			return err
		}
		thread, interrupt, err := answers()
		run, e1 := c.State()
		taken, e2 := c.Taken()
		var e3 error
		slab, e3 = c.Stat(ekm.Slab)
		if err := errors.Join(err, e1, e2, e3, c.Set(ekm.Slab, ekm.Off, ekm.Limit{})); err != nil {
			return err
		}
		if thread != "2" || interrupt != "0" || len(taken) != 1 || taken[0].Bound != 3 || taken[0].Value != 2 || taken[0].Point != ekm.Call ||
			run.Interrupts != 1 || run.Foreign != 0 {
			return fmt.Errorf("the module was given %s, in an interrupt %s; %+v, %+v", thread, interrupt, run, taken)
		}
		guestcheck.Fact("module", "fsw_ekm_choose(3) at %s is given the 2 that was loaded, and 0 in an interrupt", taken[0].Site)
		return nil
	})
	if err != nil {
		return err
	}
	if slab.Interrupts == 0 || slab.Failed != 0 {
		return fmt.Errorf("an interrupt has allocated, and that was not counted: %+v", slab)
	}
	guestcheck.Fact("module", "%d allocations in interrupts passed and were counted", slab.Interrupts)
	if err := c.Start(); err != nil {
		return err
	}
	thread, interrupt, err := answers()
	if err != nil {
		return err
	}
	run, err := c.State()
	if err != nil {
		return err
	}
	if thread != "0" || interrupt != "0" || run.Taken != 0 || run.Foreign != 1 || run.Interrupts != 1 {
		return fmt.Errorf("in a thread that is no member the module was given %s, in an interrupt %s; %+v", thread, interrupt, run)
	}
	return nil
}
