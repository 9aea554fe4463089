package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/spec"
	"fsward/hostd/output"
)

// exchange explores a stack with each value of a parameter, in a folder for each and in one guest,
// and prints with which of them errors were found.
func (f *exploreFlags) exchange(c *cobra.Command, o exploreRun, parameter string,
	limit time.Duration) error {
	values := o.Parameters[parameter]
	if len(values) < 2 {
		return usageError{fmt.Errorf("the stack has no parameter %q with several values", parameter),
			c.CommandPath()}
	}
	all := exchanged{Event: "exchanged", Parameter: parameter, Found: []string{}, Silent: []string{},
		Undecided: []string{}}
	var list []*exploring
	for _, value := range values {
		r := o.Run
		if err := r.Set(parameter, value); err != nil {
			return err
		}
		dir := filepath.Join(o.out, value)
		x, err := f.newExploring(c, r, dir, limit/time.Duration(len(values)))
		if err != nil {
			return err
		}
		list = append(list, x)
	}
	// A run that could not be made is undecided.
	_, err := batch[*exploring]{f,
		func(m explore.System, x *exploring) error {
			fmt.Fprintf(c.ErrOrStderr(), "%s: %s=%s\n", x.dir, parameter, x.run.Values[parameter])
			err := f.exploreIn(c, m, x)
			if x.done {
				all.add(x.run.Values[parameter], f.ended(c, x))
			} else {
				all.add(x.run.Values[parameter], change.Undecided)
			}
			return err
		},
		func(x *exploring) string { return x.dir },
		func(x *exploring) spec.Run { return x.run }}.perform(c, list)
	if err != nil {
		return err
	}
	if all.Text = all.blame(); f.json {
		_ = output.NewLines(c.OutOrStdout(), "").Print(all)
	} else {
		fmt.Fprintln(c.OutOrStdout(), all.Text)
	}
	return outcome(all.verdict())
}
