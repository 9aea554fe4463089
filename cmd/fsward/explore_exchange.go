package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
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
	var found, silent []string
	for _, value := range values {
		r := o.Run
		if err := r.Set(parameter, value); err != nil {
			return err
		}
		dir := filepath.Join(o.out, value)
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s=%s\n", dir, parameter, value)
		err := f.explore(c, r, dir, limit/time.Duration(len(values)))
		switch {
		case errors.Is(err, outcome(change.Violated)):
			found = append(found, value)
		case err != nil:
			return err
		default:
			silent = append(silent, value)
		}
	}
	if !f.json {
		fmt.Fprintln(c.OutOrStdout(), blame(parameter, found, silent))
	}
	if len(found) > 0 {
		return outcome(change.Violated)
	}
	return nil
}

// blame says what it means that errors were found with some values of a parameter.
func blame(parameter string, found, silent []string) string {
	switch {
	case len(found) == 0:
		return fmt.Sprintf("no error with any %s: %s", parameter, strings.Join(silent, ", "))
	case len(silent) == 0:
		return fmt.Sprintf("errors with every %s (%s): the cause is in another layer, or in all of them",
			parameter, strings.Join(found, ", "))
	}
	return fmt.Sprintf("errors with %s=%s, none with %s: the cause is in what %s selects, "+
		"or in what the layers above expect of it", parameter, strings.Join(found, ", "),
		strings.Join(silent, ", "), parameter)
}
