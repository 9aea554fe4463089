package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// A boundedFlag is the value of a flag that has a least value. A lower one is wrong usage.
type boundedFlag[T cmp.Ordered] struct {
	to    *T
	least T
	kind  string // as the help calls it
	parse func(text string) (T, error)
}

func (f boundedFlag[T]) String() string {
	if f.to == nil { // pflag asks the zero value
		return ""
	}
	return fmt.Sprint(*f.to)
}

// Type returns the name of the value in the help.
func (f boundedFlag[T]) Type() string { return f.kind }

// Set sets the flag to a value of at least the least one.
func (f boundedFlag[T]) Set(text string) error {
	v, err := f.parse(text)
	if err != nil {
		return err
	}
	if v < f.least {
		return fmt.Errorf("it must be %v or more", f.least)
	}
	*f.to = v
	return nil
}

// addNumber adds a flag for a number of at least least.
func addNumber(c *cobra.Command, to *int, name string, value, least int, usage string) {
	*to = value
	c.Flags().Var(boundedFlag[int]{to, least, "int", strconv.Atoi}, name, usage)
}

// addUnsigned is addNumber for a number without a sign.
func addUnsigned(c *cobra.Command, to *uint, name string, value, least uint, usage string) {
	*to = value
	parse := func(text string) (uint, error) {
		v, err := strconv.ParseUint(text, 10, strconv.IntSize)
		return uint(v), err
	}
	c.Flags().Var(boundedFlag[uint]{to, least, "uint", parse}, name, usage)
}

// addDuration adds a flag for a duration, which is not negative.
func addDuration(c *cobra.Command, to *time.Duration, name string, value time.Duration,
	usage string) {
	*to = value
	c.Flags().Var(boundedFlag[time.Duration]{to, 0, "duration", time.ParseDuration}, name, usage)
}
