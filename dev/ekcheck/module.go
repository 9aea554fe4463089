package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// chooser is a module that takes choices from fsw_ekm when it is loaded: once in the thread that
// loads it and once in an interrupt (guest-kmod/fsw_choosetest.c).
var chooser = guestcheck.Module{Name: "fsw_choosetest", Params: "bound=3"}

// answers loads chooser in this thread, and returns the choices that it got in the thread and in
// the interrupt.
func answers() (thread, interrupt string, err error) {
	if err := guestcheck.Load(chooser); err != nil {
		return "", "", err
	}
	var values [3]string
	for i, name := range []string{"in_thread", "in_interrupt", "allocated"} {
		b, e := os.ReadFile("/sys/module/" + chooser.Name + "/parameters/" + name)
		values[i] = strings.TrimSpace(string(b))
		err = errors.Join(err, e)
	}
	if values[2] != "Y" {
		err = errors.Join(err, errors.New("an allocation in the interrupt failed"))
	}
	return values[0], values[1], errors.Join(err, guestcheck.Unload(chooser))
}

// checkModule checks choices of another kernel module. In a thread of the checked system it gets
// the loaded value. In other threads and in interrupts it gets 0, and fsw_ekm counts these choices
// and the allocations in interrupts.
func checkModule(c *ekm.Control) error {
	var slab ekm.PointStat
	err := asMember(c, func() error {
		limit := ekm.Limit{Symbol: "no_such"}
		if err := errors.Join(c.Load([]uint32{2}), c.Start(),
			c.Set(ekm.Slab, ekm.Count, limit)); err != nil {
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
		if thread != "2" || interrupt != "0" || len(taken) != 1 || taken[0].Bound != 3 ||
			taken[0].Value != 2 || taken[0].Point != ekm.Call ||
			run.Interrupts != 1 || run.Foreign != 0 {
			return fmt.Errorf("the module got %s, want 2; in an interrupt %s, want 0; %+v, %+v",
				thread, interrupt, run, taken)
		}
		guestcheck.Fact("module", "fsw_ekm_choose(3) at %s gets the loaded 2, and 0 in an interrupt",
			taken[0].Site)
		return nil
	})
	if err != nil {
		return err
	}
	if slab.Interrupts == 0 || slab.Failed != 0 {
		return fmt.Errorf("wrong counts after an allocation in an interrupt: %+v", slab)
	}
	guestcheck.Fact("module", "%d allocations in interrupts succeeded and were counted",
		slab.Interrupts)
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
	if thread != "0" || interrupt != "0" || run.Taken != 0 || run.Foreign != 1 ||
		run.Interrupts != 1 {
		return fmt.Errorf("the module got %s in a thread that is not a member, and %s in an interrupt;"+
			" want 0, 0; %+v", thread, interrupt, run)
	}
	return nil
}
