package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/hostd/output"
)

// exchange explores a stack with each value of a parameter, in a folder for each, and prints with
// which of them errors were found.
func (f *exploreFlags) exchange(c *cobra.Command, o exploreRun, parameter string,
	limit time.Duration) error {
	values := o.Parameters[parameter]
	if len(values) < 2 {
		return usageError{fmt.Errorf("the stack has no parameter %q with several values", parameter),
			c.CommandPath()}
	}
	all := exchanged{Event: "exchanged", Parameter: parameter, Found: []string{}, Silent: []string{},
		Undecided: []string{}}
	for _, value := range values {
		r := o.Run
		if err := r.Set(parameter, value); err != nil {
			return err
		}
		dir := filepath.Join(o.out, value)
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s=%s\n", dir, parameter, value)
		err := f.explore(c, r, dir, limit/time.Duration(len(values)))
		judged := outcomeError{change.Holds}
		if err != nil && !errors.As(err, &judged) {
			return err
		}
		all.add(value, judged.outcome)
	}
	if all.Text = all.blame(); f.json {
		_ = output.NewLines(c.OutOrStdout(), "").Print(all)
	} else {
		fmt.Fprintln(c.OutOrStdout(), all.Text)
	}
	return outcome(all.verdict())
}
