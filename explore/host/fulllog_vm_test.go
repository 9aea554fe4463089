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

// TestGuestFullLog writes more to a disk than its log has room for, and takes the records. The log
// has lost the mark at which they end. They say that records are lost, and nobody waits for ever. The
// next records are complete.
func TestGuestFullLog(t *testing.T) {
	ctx := t.Context()
	cfg := GuestConfig{Dir: os.Getenv("FSWARD_GUEST"), LogMiB: 1}
	err := WithMachine(ctx, cfg, zap.NewNop(), func(m *machine.Machine) error {
		if err := errors.Join(m.MakeDisk(ctx, 0, 16<<20), m.Log(ctx, 0, true)); err != nil {
			return err
		}
		for _, megabytes := range []string{"8", "0"} {
			exit, err := m.Run(ctx, agent.Command{Timeout: time.Minute, Args: []string{"dd",
				"if=/dev/zero", "of=/dev/fswrd0", "oflag=direct", "bs=1M", "count=" + megabytes}})
			if err != nil || exit.Code != 0 {
				t.Fatalf("dd: %+v, %v", exit, err)
			}
			records, err := m.Records(ctx)
			if err != nil {
				return err
			}
			lost := slices.ContainsFunc(records, func(r ramdisk.Record) bool {
				return r.Type == ramdisk.Lost
			})
			if lost != (megabytes == "8") {
				t.Errorf("%s MiB were written: %d records, some were lost: %t", megabytes, len(records), lost)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
