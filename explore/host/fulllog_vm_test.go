//go:build vmtest

package host

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/explore/agent"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
)

// TestGuestFullLog puts more marks into the log of a disk than it has room for, and takes the
// records. The log has lost the mark at which they end. They say that records are lost, and nobody
// waits for ever. The next records are complete.
func TestGuestFullLog(t *testing.T) {
	ctx := t.Context()
	cfg := GuestConfig{Dir: os.Getenv("FSWARD_GUEST"), LogMiB: 1}
	err := WithMachine(ctx, cfg, zap.NewNop(), func(m *machine.Machine) error {
		if err := errors.Join(m.MakeDisk(ctx, 0, 16<<20), m.Log(ctx, 0, true)); err != nil {
			return err
		}
		// The marks are no longer than that of Records, for which they leave no room.
		marks := agent.Batch{Ops: slices.Repeat([]agent.Op{agent.DiskMark("x")}, 1000),
			Timeout: time.Minute}
		for _, batches := range []int{30, 1} {
			for range batches {
				if _, err := m.Do(ctx, marks); err != nil {
					return err
				}
			}
			records, err := m.Records(ctx)
			if err != nil {
				return err
			}
			lost := slices.ContainsFunc(records, func(r ramdisk.Record) bool {
				return r.Type == ramdisk.Lost
			})
			if lost != (batches > 1) || len(records) < 1000 {
				t.Errorf("after %d marks: %d records, some were lost: %t", 1000*batches, len(records), lost)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
