package audit_test

import (
	"context"
	"fmt"

	"fsward/blocktap"
	"fsward/explore/audit"
	"fsward/explore/crash"
)

// The crash states of a sound recording hold the invariants.
func ExampleRun() {
	recording := "../../hostd/guard/testdata/logs/ext3"
	base, err := blocktap.OpenImage(recording + ".base.zst")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer base.Close()
	sum, err := audit.Run(context.Background(), audit.Config{
		Base: base, Logs: []string{recording + ".log.zst"}, FS: "auto",
		Crash: crash.Options{Limit: 5, Seed: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sum.FS, sum.Outcome(), len(sum.Findings))
	// Output: ext3 holds 0
}
