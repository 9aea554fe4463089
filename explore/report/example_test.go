package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"fsward/explore"
	"fsward/explore/exploretest"
	"fsward/explore/report"
	"fsward/explore/spec"
)

// exploreToy explores a small storage system that forgets a flush, and keeps the run in dir.
func exploreToy(dir string) error {
	s, err := spec.FileSystem("ext3", "", "", "sync", "")
	if err != nil {
		return err
	}
	origin, err := json.Marshal(spec.Run{Spec: s})
	if err != nil {
		return err
	}
	machine := exploretest.New()
	_, err = explore.Run(context.Background(), explore.Config{
		System: machine, Dir: dir, Origin: origin, Depth: 2,
		Stack: explore.Stack{
			Top:     exploretest.NewToy(machine, exploretest.DroppedFlush),
			Checker: &exploretest.ToyChecker{Keys: 1, Values: 1},
		},
	})
	return err
}

// A report has a row for each stack and a column for each property. The run here is of a small
// storage system, which stands for ext3.
func ExampleWriteMarkdown() {
	dir, err := os.MkdirTemp("", "fsward-report-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := exploreToy(dir); err != nil {
		fmt.Println(err)
		return
	}
	run, err := report.Read(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	var text strings.Builder
	if err := report.WriteMarkdown(&text, []report.Run{run}); err != nil {
		fmt.Println(err)
		return
	}
	table, _, _ := strings.Cut(text.String(), "\n\n") // below it stands a line for each error
	fmt.Println(table)
	for _, e := range run.Errors {
		fmt.Println(e.Lines()[0], "…", e.Summary)
	}
	// Output:
	// | | sync | recovery |
	// |---|---|---|
	// | ext3 | ✗ synced byte lost | ✓ 3, all |
	// 1. toy put 0 1 … key 0 has 0, want 1
}
