package offline_test

import (
	"context"
	"path/filepath"
	"testing"

	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// TestQueryOfSeveralDisks queries a file system on two disks.
func TestQueryOfSeveralDisks(t *testing.T) {
	dir := t.TempDir()
	disks := []string{filepath.Join(dir, "a.img"), filepath.Join(dir, "b.img")}
	guardtest.Run(t, "truncate", append([]string{"-s", "256M"}, disks...)...)
	guardtest.Run(t, "mkfs.btrfs", append([]string{"-q", "-d", "raid1", "-m", "raid1"}, disks...)...)
	err := offline.Query(context.Background(), offline.QueryConfig{Targets: disks, FS: detect.Auto,
		Limit: 10}, func(q *offline.Querier) error {
		a, err := q.Ask(context.Background(), "query(3, k(1, dev_item, DEVICE), total_bytes, SIZE)")
		if err != nil {
			return err
		}
		if len(a.Rows) != 2 || a.Rows[0][0].Text != "1" || a.Rows[1][0].Text != "2" ||
			a.Rows[1][1].Text != "268435456" {
			t.Errorf("answers %+v", a.Rows)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := offline.Query(context.Background(),
		offline.QueryConfig{Targets: disks[:1], FS: detect.Auto},
		func(*offline.Querier) error { return nil }); err == nil {
		t.Error("one of two disks was asked about")
	}
}
