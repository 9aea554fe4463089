package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/repair/campaign"
	"fsward/repair/report"
)

func fsckReportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write a page about the findings of campaigns",
		Long: `Writes one page of HTML about the campaigns in DIRs: a table of programs, a table of
damaged fields and kinds of failures for each, and every finding with its bytes, the files
that differ after the repair, and the output of each run. The page needs no other file and
no network.`,
		Example: "  fsward fsck report found --out report.html",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var list []*campaign.Results
			for _, dir := range args {
				r, err := campaign.LoadResults(dir)
				if err != nil {
					return err
				}
				list = append(list, r)
			}
			var b bytes.Buffer
			if err := report.Write(&b, list); err != nil {
				return err
			}
			if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
				return err
			}
			fmt.Println(out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "report.html", "write the page to `FILE`")
	return c
}
