package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// next returns the sequence after the choices that were taken, in the order of an odometer, and nil
// after the last one.
func next(taken []ekm.Choice) []uint32 {
	for i := len(taken) - 1; i >= 0; i-- {
		if taken[i].Value+1 < taken[i].Bound {
			seq := make([]uint32, i+1)
			for j := range i {
				seq[j] = taken[j].Value
			}
			seq[i] = taken[i].Value + 1
			return seq
		}
	}
	return nil
}

// checkChoose enumerates all sequences of choices of a small program, and checks that each occurs
// exactly once.
func checkChoose(c *ekm.Control) error {
	const most = 6
	var seen []string
	// One choice of three, and then six choices of two: 3 * 2^6 sequences.
	program := func() (string, error) {
		k, err := c.Choose(3, "how many")
		if err != nil {
			return "", err
		}
		path := fmt.Sprint(k)
		for i := range most {
			v, err := c.Choose(2, fmt.Sprint("bit ", i))
			if err != nil {
				return "", err
			}
			path += fmt.Sprint(v)
		}
		return path, nil
	}
	begin := time.Now()
	err := asMember(c, func() error {
		for seq := []uint32{}; seq != nil; {
			if err := errors.Join(c.Load(seq), c.Start()); err != nil {
				return err
			}
			path, err := program()
			if err != nil {
				return err
			}
			taken, err := c.Taken()
			if err != nil {
				return err
			}
			if len(taken) != 1+most || taken[0].Site != "how many" ||
				taken[most].Site != fmt.Sprint("bit ", most-1) ||
				taken[0].PID != uint32(unix.Gettid()) || taken[0].Replayed != (len(seq) > 0) {
				return fmt.Errorf("the sequence %v leads to the wrong choices %+v", seq, taken)
			}
			seen = append(seen, path)
			seq = next(taken)
		}
		return nil
	})
	if err != nil {
		return err
	}
	took := time.Since(begin)
	different := len(slices.Compact(slices.Sorted(slices.Values(seen))))
	if want := 3 << most; len(seen) != want || different != want {
		return fmt.Errorf("%d sequences, %d of them different; want %d", len(seen), different, want)
	}
	guestcheck.Fact("choose", "choose(3) x choose(2)^%d: %d sequences, each once, in %d ms",
		most, len(seen), took.Milliseconds())
	return errors.Join(chooseForeign(c), chooseLimits(c), chooseRate(c))
}

// chooseForeign checks that a thread that is not a member gets 0 for each choice. The module counts
// such a choice and does not record it.
func chooseForeign(c *ekm.Control) error {
	if err := errors.Join(c.Load([]uint32{1}), c.Start()); err != nil {
		return err
	}
	v, err := c.Choose(2, "foreign")
	if err != nil {
		return err
	}
	r, err := c.State()
	if err != nil {
		return err
	}
	if v != 0 || r != (ekm.Run{Loaded: 1, Foreign: 1}) {
		return fmt.Errorf("a thread that is not a member gets %d, want 0: %+v", v, r)
	}
	return nil
}

// chooseLimits checks that the module counts loaded values that exceed their bound and choices
// beyond its limit, and that it refuses invalid commands.
func chooseLimits(c *ekm.Control) error {
	long := make([]uint32, ekm.MaxChoices)
	for i := range long {
		long[i] = uint32(i % 7)
	}
	return asMember(c, func() error {
		if err := errors.Join(c.Load(long), c.Start()); err != nil {
			return err
		}
		const beyond = 3
		for i := range ekm.MaxChoices + beyond {
			want := uint32(i % 7)
			if i%7 > 4 || i >= ekm.MaxChoices {
				want = 0
			}
			if v, err := c.Choose(5, "long"); err != nil || v != want {
				return errors.Join(fmt.Errorf("choice %d is %d, want %d", i, v, want), err)
			}
		}
		diverged := uint64(0)
		for _, v := range long {
			if v > 4 {
				diverged++
			}
		}
		r, err := c.State()
		if err != nil {
			return err
		}
		want := ekm.Run{
			Loaded:   ekm.MaxChoices,
			Taken:    ekm.MaxChoices,
			Full:     beyond,
			Diverged: diverged,
		}
		if r != want {
			return fmt.Errorf("the run is %+v, want %+v", r, want)
		}
		taken, err := c.Taken()
		if err != nil {
			return err
		}
		if len(taken) != ekm.MaxChoices || !taken[5].Diverged || taken[4].Diverged ||
			taken[4].Value != 4 {
			return fmt.Errorf("%d choices, the fifth and sixth are %+v", len(taken), taken[4:6])
		}
		if err := c.Load(append(long, 1)); !errors.Is(err, unix.EINVAL) {
			return errors.Join(errors.New("a sequence that is too long does not fail with EINVAL"), err)
		}
		for _, n := range []uint32{0, ekm.MaxBound + 1} {
			if _, err := c.Choose(n, ""); !errors.Is(err, unix.EINVAL) {
				return errors.Join(fmt.Errorf("choose(%d) does not fail with EINVAL", n), err)
			}
		}
		if _, err := c.Choose(2, strings.Repeat("x", ekm.MaxText+1)); err == nil {
			return errors.New("the module accepts a site that is too long")
		}
		return nil
	})
}

// chooseRate measures the rate of choices.
func chooseRate(c *ekm.Control) error {
	const n = 10000
	return asMember(c, func() error {
		if err := errors.Join(c.Load(nil), c.Start()); err != nil {
			return err
		}
		begin := time.Now()
		for range n {
			if _, err := c.Choose(2, "rate"); err != nil {
				return err
			}
		}
		guestcheck.Fact("choose", "%.0f choices a second", n/time.Since(begin).Seconds())
		return nil
	})
}
