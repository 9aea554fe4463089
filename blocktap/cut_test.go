package blocktap

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestChangeOfACutConnection checks that a write is not performed if its connection was cut while
// it waited. By then the guest may already send requests over its next connection.
func TestChangeOfACutConnection(t *testing.T) {
	image := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(image, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	disk, err := OpenFile(image, FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	d := NewDevice(disk, nil)
	ctx, cut := context.WithCancel(t.Context())
	waits := make(chan error)
	d.Between(func() {
		data := bytes.Repeat([]byte("x"), 512)
		go func() { waits <- d.Do(ctx, &Request{Op: OpWrite, Len: 512, Data: data}) }()
		cut()
	})
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("the write returned %v, want context.Canceled", err)
	}
	b := make([]byte, 1)
	if _, err := disk.ReadAt(b, 0); err != nil || b[0] != 0 {
		t.Errorf("the disk holds %q, want a zero byte; error %v", b, err)
	}
}
