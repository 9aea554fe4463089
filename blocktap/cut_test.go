package blocktap

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A change whose connection was cut before its turn came is not done: the next connection's may be under way.
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
		go func() { waits <- d.Do(ctx, &Request{Op: OpWrite, Len: 512, Data: bytes.Repeat([]byte("x"), 512)}) }()
		cut()
	})
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("the write answers %v", err)
	}
	b := make([]byte, 1)
	if _, err := disk.ReadAt(b, 0); err != nil || b[0] != 0 {
		t.Errorf("the disk has %q, %v", b, err)
	}
}
