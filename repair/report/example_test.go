package report_test

import (
	"fmt"
	"strings"

	"fsward/repair/campaign"
	"fsward/repair/report"
)

// The page is one file of HTML and names each program.
func ExampleWrite() {
	var page strings.Builder
	err := report.Write(&page, []*campaign.Results{{
		Config:   campaign.Config{FS: "ext3", Program: "e2fsck"},
		Progress: campaign.Progress{Damages: 100, Runs: 200},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!DOCTYPE html>"),
		strings.Contains(page.String(), "e2fsck"))
	// Output: true true
}
