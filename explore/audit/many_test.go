package audit

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/explore/crash"
)

// followed is a disk that zeros follow.
type followed struct {
	crash.Base
	more uint64 // bytes
}

func (f followed) Size() uint64 { return f.Base.Size() + f.more }

func (f followed) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if size := f.Base.Size(); uint64(off) < size {
		part := p[:min(uint64(len(p)), size-uint64(off))]
		if n, err := f.Base.ReadAt(part, off); n < len(part) {
			return n, err
		}
	}
	return len(p), nil
}

// A guest writes for a long time without a flush. Each state differs from the base by thousands of
// pages; a look at all of these for each state is one of minutes.
func TestManyUnflushed(t *testing.T) {
	const n = 16_000
	cfg := config(t, "ext3", filepath.Join(t.TempDir(), "log"))
	end := cfg.Base.Size()
	cfg.Base = followed{cfg.Base, n * crash.PageSize}
	w, err := trace.Create(cfg.Logs[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(n) {
		r := blocktap.Request{Op: blocktap.OpWrite, Off: end + i*crash.PageSize, Len: crash.PageSize,
			Data: binary.LittleEndian.AppendUint64(make([]byte, crash.PageSize-8), i+1)}
		err = errors.Join(err, w.Log(&r))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	sum := run(t, cfg)
	if sum.Outcome() != change.Holds || sum.States < n || sum.Entries != n {
		t.Errorf("%+v", sum)
	}
}
