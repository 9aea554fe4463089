package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fsward/hostd/output"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/testimage"
)

func fsckListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the repair programs that fsward knows, and the fields that it damages",
		Long: `Lists the repair programs with their versions. For each file system of which fsward makes
images, it also lists the source of the fields that fsward damages: a map, fsward's own interpreter
of the file system, or, without both, the words of each sector.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := adapter.Known()
			if err != nil {
				return err
			}
			fields, err := damage.Sources(testimage.FileSystems())
			if err != nil {
				return err
			}
			if asJSON {
				return listAsJSON(c, list, fields)
			}
			return listPrograms(c, list, fields)
		},
	}
	addJSONFlag(c, &asJSON)
	return c
}

// programVersion returns the version of a program, or which package has it.
func programVersion(c *cobra.Command, p *adapter.Program) string {
	if !p.Installed() {
		return "not installed (Debian package " + p.Package + ")"
	}
	return p.VersionText(c.Context())
}

// newTable returns a writer of a table.
func newTable() *tabwriter.Writer { return tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0) }

func modeNames(p *adapter.Program) (names []string) {
	for _, m := range p.Repairs {
		names = append(names, m.Name)
	}
	return names
}

// listPrograms prints known programs with their versions, and where fields come from.
func listPrograms(c *cobra.Command, list []*adapter.Program, fields []damage.Source) error {
	w := newTable()
	fmt.Fprintln(w, "PROGRAM\tFILE SYSTEMS\tMODES\tVERSION")
	for _, p := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, strings.Join(p.FileSystems, " "),
			strings.Join(modeNames(p), " "), programVersion(c, p))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	w = newTable()
	fmt.Fprintln(w, "\nIMAGE\tFIELDS")
	for _, s := range fields {
		fmt.Fprintf(w, "%s\t%s\n", s.FS, s)
	}
	return w.Flush()
}

// listAsJSON prints an object for each program, and for each file system.
func listAsJSON(c *cobra.Command, list []*adapter.Program, fields []damage.Source) error {
	lines := output.NewLines(os.Stdout, "")
	for _, p := range list {
		err := lines.Print(struct {
			Event       string   `json:"event"`
			Program     string   `json:"program"`
			Package     string   `json:"package"`
			Installed   bool     `json:"installed"`
			Modes       []string `json:"modes"`
			FileSystems []string `json:"file_systems"`
			VersionText string   `json:"program_version"`
		}{"program", p.Name, p.Package, p.Installed(), modeNames(p), p.FileSystems,
			programVersion(c, p)})
		if err != nil {
			return err
		}
	}
	for _, s := range fields {
		err := lines.Print(struct {
			Event string `json:"event"`
			damage.Source
		}{"fields", s})
		if err != nil {
			return err
		}
	}
	return nil
}
