package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// rates measures the time that probes add to the creation of files.
type rates struct {
	c     *ekm.Control
	dir   string
	round int
	base  time.Duration // without probes
}

// checkRates measures the time that each probe adds to the creation of 1,000 files.
func checkRates(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	if _, err := watch(c, d); err != nil {
		return err
	}
	return guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		r := rates{c: c, dir: dir}
		if _, err := r.measure(); err != nil { // fills the caches
			return err
		}
		if r.base, err = r.measure(); err != nil {
			return err
		}
		guestcheck.Fact("rates", "1000 file creations take %d ms without probes", r.base.Milliseconds())
		if err := errors.Join(r.points(), r.logs()); err != nil {
			return err
		}
		again, err := r.measure()
		if err != nil {
			return err
		}
		r.report("without probes again", again, 0)
		h, err := c.Hello()
		if err == nil && (h.Probes != 0 || h.Missed != 0) {
			err = fmt.Errorf("%d probes are left, and %d hits were missed", h.Probes, h.Missed)
		}
		return err
	})
}

// measure makes 1,000 files in a new directory, and returns the time that this took.
func (r *rates) measure() (took time.Duration, err error) {
	r.round++
	sub := filepath.Join(r.dir, fmt.Sprint("round", r.round))
	if err := os.Mkdir(sub, 0o755); err != nil {
		return 0, err
	}
	err = asMember(r.c, func() error {
		begin := time.Now()
		for i := range 1000 {
			f, err := os.Create(filepath.Join(sub, fmt.Sprint("file", i)))
			if err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
		took = time.Since(begin)
		return nil
	})
	return took, err
}

// report writes a time and its difference from the time without probes.
func (r *rates) report(what string, took time.Duration, hits uint64) {
	guestcheck.Fact("rates", "%s: %d ms, %+.0f%%; %d hits or events, %.0f a second",
		what, took.Milliseconds(), 100*(took.Seconds()/r.base.Seconds()-1),
		hits, float64(hits)/took.Seconds())
}

// points measures each choice point in the mode that counts its hits.
func (r *rates) points() error {
	for _, p := range ekm.Points() {
		if err := r.c.Set(p, ekm.Count, ekm.Limit{}); err != nil {
			return err
		}
		took, err := r.measure()
		if err != nil {
			return err
		}
		s, err := r.c.Stat(p)
		if err != nil {
			return err
		}
		r.report(p.String()+" counted", took, s.Hits)
		if err := r.c.Set(p, ekm.Off, ekm.Limit{}); err != nil {
			return err
		}
	}
	return nil
}

// logs measures the logs of the write set and of system calls.
func (r *rates) logs() error {
	names := map[ekm.What]string{
		ekm.Writes: "write set logged",
		ekm.Calls:  "system calls logged",
	}
	for what, name := range names {
		var took time.Duration
		events := uint64(0)
		if err := readLog(r.c, what, func() (err error) {
			took, err = r.measure()
			return err
		}, func(*ekm.Record) error {
			events++
			return nil
		}); err != nil {
			return err
		}
		if events < 1000 {
			return fmt.Errorf("%s: %d events of 1000 file creations, want at least 1000", name, events)
		}
		r.report(name, took, events)
	}
	return nil
}
