package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/guest"
	"fsward/explore/spec"
)

func exploreListCommand() *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List components, checkers and stacks, with the packages and modules that they need",
		Long: `Lists what fsward explore run can put together: components (file systems and other layers),
checkers, and whole stacks with their parameters. It says what each needs, and whether the guest has
that. The first run that needs a package fetches it from Debian's mirror, and keeps it in the
guest's folder.`,
		Example: `  fsward explore list
  fsward explore list --guest build/guest-amd64 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := explorable(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(list)
			}
			return list.print(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&dir, "guest", defaultGuest,
		"ask for the guest in `DIR`, which make guest built")
	addJSONFlag(c, &asJSON)
	return c
}

// parts is what can be explored.
type parts struct {
	Event      string `json:"event"`
	Components []part `json:"components"`
	Checkers   []part `json:"checkers"`
	Stacks     []part `json:"stacks"`
}

// part is a component, a checker or a stack.
type part struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	guest.Needs
	Parameters map[string][]string `json:"parameters,omitempty"` // the default value comes first
	// Guest says whether the guest has it; "": every guest does.
	Guest string `json:"guest,omitempty"`
}

// explorable returns what can be explored in the guest in a folder.
func explorable(dir string) (p parts, err error) {
	p.Event = "list"
	release := guestRelease(dir)
	for _, name := range component.Names() {
		k, err := component.Load(name)
		if err != nil {
			return p, err
		}
		c := part{Name: name, Doc: k.Doc, Needs: k.Needs, Guest: inGuest(k.Needs, dir)}
		if !k.In(release) {
			c.Guest = k.Lacking()
		}
		p.Components = append(p.Components, c)
	}
	for _, n := range checkers.Names() {
		p.Checkers = append(p.Checkers, part{Name: n[0], Doc: n[1]})
	}
	for _, name := range spec.Stacks() {
		s, err := spec.Load(name)
		if err != nil {
			return p, err
		}
		needs, err := s.AllNeeds()
		if err != nil {
			return p, err
		}
		c := part{Name: name, Doc: s.Doc, Needs: needs, Parameters: s.Parameters,
			Guest: inGuest(needs, dir)}
		if err := s.CheckKernel(release); err != nil {
			c.Guest = err.Error()
		}
		p.Stacks = append(p.Stacks, c)
	}
	return p, nil
}

// inGuest says whether the guest in a folder has what is needed.
func inGuest(n guest.Needs, dir string) string {
	switch {
	case n.None():
		return ""
	case n.Has(dir):
		return "in the guest"
	}
	return "fetched at the first run"
}

// listWidth is the number of columns of a list. A word can be longer.
const listWidth = 80

// print prints the parts for people.
func (p parts) print(out io.Writer) error {
	w := bufio.NewWriter(out)
	indent := 0
	for _, c := range slices.Concat(p.Components, p.Checkers, p.Stacks) {
		indent = max(indent, len(c.Name)+2)
	}
	for _, list := range []struct {
		title string
		parts []part
	}{{"COMPONENTS", p.Components}, {"CHECKERS", p.Checkers}, {"STACKS", p.Stacks}} {
		fmt.Fprintf(w, "%s\n", list.title)
		for _, c := range list.parts {
			name := c.Name
			for _, text := range c.texts() {
				for _, line := range wrapped(text, listWidth-indent) {
					fmt.Fprintf(w, "%-*s%s\n", indent, name, line)
					name = ""
				}
			}
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// texts returns what a list says about a part.
func (p *part) texts() []string {
	out := []string{p.Doc}
	switch needs := strings.Join(slices.Concat(p.Packages, p.Modules), " "); {
	case needs != "" && p.Guest != "":
		out = append(out, fmt.Sprintf("needs %s: %s", needs, p.Guest))
	case needs != "" || p.Guest != "":
		out = append(out, needs+p.Guest)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		out = append(out, fmt.Sprintf("--set %s=%s", name, strings.Join(p.Parameters[name], "|")))
	}
	return out
}
