package hostd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/explore"
)

// A guard of an explored disk lets the kernel's writes pass, and tells of the first that it would refuse.
func TestExploreGuard(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "base")
	if err := errors.Join(os.WriteFile(base, nil, 0o600), os.Truncate(base, 16<<20)); err != nil {
		t.Fatal(err)
	}
	run(t, "mkfs.ext3", "-q", "-F", base)
	image, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	const off, size, inodeCount = 1024, 1024, 0
	for _, c := range []struct {
		inodes uint32 // added to what the superblock says
		kind   string
	}{{0, ""}, {7, "refused: ext3/"}} {
		path := filepath.Join(dir, fmt.Sprint("log", c.inodes))
		w, err := trace.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		block := append([]byte(nil), image[off:off+size]...)
		binary.LittleEndian.PutUint32(block[inodeCount:], binary.LittleEndian.Uint32(block[inodeCount:])+c.inodes)
		if err := errors.Join(w.Log(&blocktap.Request{Op: blocktap.OpWrite, Off: off, Len: size, Data: block}), w.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := ExploreGuard(zaptest.NewLogger(t))(context.Background(), []explore.Recorded{{Name: "/dev/fswrd0", Base: base, Log: path}})
		if err != nil || (got != nil) != (c.kind != "") || got != nil && !strings.HasPrefix(got.Kind, c.kind) {
			t.Errorf("%d inodes more: %v, %v", c.inodes, got, err)
		}
		t.Log(got)
	}
}
