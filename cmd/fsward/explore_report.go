package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fsward/explore"
	"fsward/explore/report"
)

func exploreReportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write one HTML file about the errors that runs found",
		Long: `Writes a table of storage by property, and a section for each error: the operations, what
was expected and what was found, a picture of the writes, the flushes and the crash, and the command
that replays it. A FILE that ends in .md has only the table and a line for each error.`,
		Example: "  fsward explore report --out report.html ext3-sync ext3-reasonable vfat-sync",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var runs []report.Run
			for _, dir := range args {
				r, err := report.Read(dir)
				if errors.Is(err, explore.ErrNotBegun) {
					fmt.Fprintf(c.ErrOrStderr(), "left out: %v\n", err)
					continue
				}
				if err != nil {
					return err
				}
				runs = append(runs, r)
			}
			f, err := os.Create(out)
			if err != nil {
				return err
			}
			write := report.Write
			if filepath.Ext(out) == ".md" {
				write = report.WriteMarkdown
			}
			return errors.Join(write(f, runs), f.Close())
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "explore.html", "write the report to `FILE`")
	return c
}
