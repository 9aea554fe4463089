package offline_test

import (
	"context"
	"fmt"
	"os"

	"go.uber.org/zap"

	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// Replay of a recorded log over the image that it starts from. Every commit in it holds.
func ExampleReplay() {
	const log = "../guard/testdata/logs/ext3"
	disk := offline.ReplayDisk{Base: log + ".base.zst", Log: log + ".log.zst"}
	sum, err := offline.Replay(context.Background(), offline.ReplayConfig{
		Disks: []offline.ReplayDisk{disk}, FS: detect.Auto}, zap.NewNop())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(sum.Outcome(), sum.Violated)
	// Output: holds 0
}
