package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/spec"
)

// An unsuitableError says that the guest cannot run a job, and is none the worse for it.
type unsuitableError struct{ error }

// A batch is a list of jobs of one kind that run in a guest, one after the other, or each in a
// user-mode Linux of its own.
type batch[T any] struct {
	flags *exploreFlags
	job   func(explore.System, T) error
	dir   func(T) string // names a job in messages
	run   func(T) spec.Run
}

// perform performs all jobs and returns how many failed. After a failure it boots another guest,
// since the failure leaves the guest in an unknown state; after an unsuitableError it does not. The
// error is that of the context, or of a guest that does not boot.
func (b batch[T]) perform(c *cobra.Command, jobs []T) (failed int, err error) {
	for len(jobs) > 0 && c.Context().Err() == nil {
		before := len(jobs)
		first := b.run(jobs[0])
		err := b.flags.withSystem(c.Context(), first, func(m explore.System) error {
			for len(jobs) > 0 && c.Context().Err() == nil {
				job := jobs[0]
				if len(jobs) < before && (first.RunIn == spec.InUserMode || b.run(job).RunIn != first.RunIn) {
					return nil
				}
				jobs = jobs[1:]
				err := b.job(m, job)
				if err == nil {
					continue
				}
				failed++
				fmt.Fprintf(c.ErrOrStderr(), "%s could not be run: %v\n", b.dir(job), err)
				if _, ok := errors.AsType[unsuitableError](err); !ok {
					return nil
				}
			}
			return nil
		})
		if err != nil && len(jobs) == before && first.RunIn != spec.InUserMode {
			return failed, err // no guest boots
		}
		if err != nil && len(jobs) == before { // it cannot have this stack
			failed++
			fmt.Fprintf(c.ErrOrStderr(), "%s could not be run: %v\n", b.dir(jobs[0]), err)
			jobs = jobs[1:]
			continue
		}
		if err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "the guest: %v\n", err)
		}
	}
	return failed, c.Context().Err()
}
