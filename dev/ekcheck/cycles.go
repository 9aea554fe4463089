package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// checkCycles checks that the module leaks no memory when it is loaded, used and unloaded.
func checkCycles() error { return guestcheck.Leaks(cycle) }

// cycle loads the module, uses its functions, and unloads it. In every other cycle the unload finds
// active choice points, a held thread and an unread log.
func cycle(i int) (err error) {
	m := guestcheck.Module{Name: "fsw_ekm", Params: "log_mib=1"}
	if err := guestcheck.Load(m); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guestcheck.Unload(m)) }()
	c, err := ekm.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	// The module only compares the number of the device, which need not exist. To set probes takes
	// long, so each cycle sets only some of them.
	what := ekm.Choices
	switch i % 10 {
	case 3, 6:
		what |= ekm.Writes
	case 9:
		what |= ekm.Calls
	}
	dev := ekm.Device(unix.Mkdev(7, uint32(i)))
	if err := errors.Join(c.Watch(dev, true), c.Log(what)); err != nil {
		return err
	}
	p := ekm.Points()[i%len(ekm.Points())]
	if err := asMember(c, func() error {
		if err := errors.Join(c.Load([]uint32{1, 2}), c.Start(), c.Set(p, ekm.Count, ekm.Limit{}),
			c.Set(ekm.Slab, ekm.On, ekm.Limit{Symbol: "do_mkdirat"})); err != nil {
			return err
		}
		if err := unix.Mkdir("/tmp/cycle", 0o700); !errors.Is(err, unix.ENOMEM) {
			return errors.Join(errors.New("the first allocation of mkdir does not fail"), err)
		}
		if err := errors.Join(os.Mkdir("/tmp/cycle", 0o700), os.Remove("/tmp/cycle")); err != nil {
			return err
		}
		taken, err := c.Taken()
		if err == nil && (len(taken) == 0 || taken[0].Value != 1) {
			err = fmt.Errorf("wrong choices: %+v", taken)
		}
		return err
	}); err != nil {
		return err
	}
	threads, err := c.Threads()
	if err != nil {
		return err
	}
	for _, t := range threads {
		if t.Comm == "kswapd0" {
			err = c.Hold(t.PID)
		}
	}
	if err != nil || i%2 == 1 {
		return err
	}
	return errors.Join(c.Set(p, ekm.Off, ekm.Limit{}), c.Set(ekm.Slab, ekm.Off, ekm.Limit{}), c.Log(0))
}
