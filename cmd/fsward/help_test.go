package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// maxHelpColumns bounds the lines of descriptions and examples.
const maxHelpColumns = 100

// TestHelp checks that each command and each flag says what it does, in lines that fit on a page.
func TestHelp(t *testing.T) {
	root := rootCommand()
	checkHelp(t, root)
	for _, c := range root.Commands() {
		if c.GroupID == "" && !c.Hidden && c.Name() != "version" {
			t.Errorf("fsward %s is in no group of the help", c.Name())
		}
	}
}

func checkHelp(t *testing.T, c *cobra.Command) {
	t.Helper()
	if c.Short == "" || strings.HasSuffix(c.Short, ".") {
		t.Errorf("%s: the short help is %q", c.CommandPath(), c.Short)
	}
	for _, line := range slices.Concat(strings.Split(c.Long, "\n"), strings.Split(c.Example, "\n")) {
		if n := utf8.RuneCountInString(line); n > maxHelpColumns {
			t.Errorf("%s: a line of the help has %d columns: %s", c.CommandPath(), n, line)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		// A flag says what it does, and so does not begin with the name of its value.
		if f.Usage == "" || strings.HasPrefix(f.Usage, "`") || strings.HasSuffix(f.Usage, ".") {
			t.Errorf("%s --%s: the help is %q", c.CommandPath(), f.Name, f.Usage)
		}
	})
	for _, sub := range c.Commands() {
		checkHelp(t, sub)
	}
}
