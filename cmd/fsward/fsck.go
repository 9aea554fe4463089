package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fsward/hostd/output"
	"fsward/repair/adapter"
	"fsward/repair/testimage"
)

func fsckCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Test repair programs such as e2fsck on damaged images",
		Long: `Damages the fields of a file system's image one after the other, and runs a repair
program twice on each damaged image. The second run must agree with the first: after "all
errors corrected" it must find nothing. Each way in which a program fails gets a folder,
from which fsward fsck replay shows it again.

The programs run on copies of the image, in sandboxes that bound their time, memory and output.
They see no device of the host.

docs/user/repair.md is an introduction.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(fsckRunCommand(), fsckResumeCommand(), fsckReplayCommand(), fsckReportCommand(),
		fsckListCommand())
	return c
}

func fsckListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the repair programs that fsward knows, and the file systems of their images",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := adapter.Known()
			if err != nil {
				return err
			}
			return listPrograms(c, list, asJSON)
		},
	}
	addJSONFlag(c, &asJSON)
	return c
}

// listPrograms prints known programs with their versions.
func listPrograms(c *cobra.Command, list []*adapter.Program, asJSON bool) error {
	lines := output.NewLines(os.Stdout, "")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROGRAM\tFILE SYSTEMS\tMODES\tVERSION")
	for _, p := range list {
		version := "not installed (Debian package " + p.Package + ")"
		if p.Installed() {
			version = p.VersionText(c.Context())
		}
		var modes []string
		for _, m := range p.Repairs {
			modes = append(modes, m.Name)
		}
		if asJSON {
			err := lines.Print(struct {
				Event       string   `json:"event"`
				Program     string   `json:"program"`
				Package     string   `json:"package"`
				Installed   bool     `json:"installed"`
				Modes       []string `json:"modes"`
				FileSystems []string `json:"file_systems"`
				VersionText string   `json:"program_version"`
			}{"program", p.Name, p.Package, p.Installed(), modes, p.FileSystems, version})
			if err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, strings.Join(p.FileSystems, " "),
			strings.Join(modes, " "), version)
	}
	if asJSON {
		return nil
	}
	fmt.Fprintf(w, "\nImages are made of: %s\n", strings.Join(testimage.FileSystems(), " "))
	return w.Flush()
}
