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

// checkRates measures what each probe costs when 1,000 files are made.
func checkRates(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	if _, err := watch(c, d); err != nil {
		return err
	}
	return guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		round := 0
		measure := func() (took time.Duration, err error) {
			round++
			sub := filepath.Join(dir, fmt.Sprint("round", round))
			if err := os.Mkdir(sub, 0o755); err != nil {
				return 0, err
			}
			err = asMember(c, func() error {
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
		if _, err := measure(); err != nil { // the caches are warm after the first
			return err
		}
		plain, err := measure()
		if err != nil {
			return err
		}
		guestcheck.Fact("rates", "1000 file creations take %d ms without probes", plain.Milliseconds())
		tell := func(what string, took time.Duration, hits uint64) {
			guestcheck.Fact("rates", "%s: %d ms, %+.0f%%; %d hits or events, %.0f a second", what, took.Milliseconds(),
				100*(took.Seconds()/plain.Seconds()-1), hits, float64(hits)/took.Seconds())
		}
		for _, p := range ekm.Points() {
			if err := c.Set(p, ekm.Count, ekm.Limit{}); err != nil {
				return err
			}
			took, err := measure()
			if err != nil {
				return err
			}
			s, err := c.Stat(p)
			if err != nil {
				return err
			}
			tell(p.String()+" counted", took, s.Hits)
			if err := c.Set(p, ekm.Off, ekm.Limit{}); err != nil {
				return err
			}
		}
		for what, name := range map[ekm.What]string{ekm.Writes: "write set logged", ekm.Calls: "system calls logged"} {
			var took time.Duration
			events := uint64(0)
			if err := logged(c, what, func() (err error) { took, err = measure(); return err }, func(*ekm.Record) error {
				events++
				return nil
			}); err != nil {
				return err
			}
			if events < 1000 {
				return fmt.Errorf("%s: %d events of 1000 file creations", name, events)
			}
			tell(name, took, events)
		}
		again, err := measure()
		if err != nil {
			return err
		}
		tell("without probes again", again, 0)
		h, err := c.Hello()
		if err == nil && (h.Probes != 0 || h.Missed != 0) {
			err = errors.New("probes are left in place, or missed some hits")
		}
		return err
	})
}

// checkOverflow: what does not fit into the log is told, at its place and with its number.
func checkOverflow(c *ekm.Control) error {
	if err := c.Log(0); err != nil {
		return err
	}
	const marks = 12000 // of 112 bytes each; the log of 1 MiB holds fewer
	for range marks {
		if err := c.Mark("x"); err != nil {
			return err
		}
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if h.LogBytes != 1<<20 || h.LogUsed > h.LogBytes || h.Lost == 0 || h.Lost >= marks {
		return fmt.Errorf("after %d marks: %+v", marks, h)
	}
	f, err := ekm.OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	r := ekm.NewReader(f)
	kept, lost := uint64(0), uint64(0)
	for kept+lost < marks {
		rec, err := r.Next() // which finds that numbers follow each other
		if err != nil {
			return err
		}
		if rec.Type == ekm.Lost {
			lost += rec.Len
		} else {
			kept++
		}
	}
	if lost != h.Lost || kept+lost != marks {
		return fmt.Errorf("%d kept and %d lost of %d; the module counts %d", kept, lost, marks, h.Lost)
	}
	if err := c.Mark("after"); err != nil {
		return err
	}
	if rec, err := r.Next(); err != nil || string(rec.Data) != "after" {
		return errors.Join(errors.New("after the gap the log does not go on"), err)
	}
	guestcheck.Fact("overflow", "%d of %d records lost, and told", lost, marks)
	return nil
}
