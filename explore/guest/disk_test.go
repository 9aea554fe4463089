package guest

import (
	"bytes"
	"testing"
)

// zeros is a base.
type zeros uint64

func (z zeros) Size() uint64 { return uint64(z) }

func (z zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// A disk holds after restore what it held at the checkpoint, on whatever branch, and layers go with their last user.
func TestDiskLayers(t *testing.T) {
	d, err := NewDisk(zeros(1 << 20))
	if err != nil {
		t.Fatal(err)
	}
	block := func(v byte) []byte { return bytes.Repeat([]byte{v}, 4096) }
	write := func(v byte, at int64) {
		t.Helper()
		if _, err := d.WriteAt(block(v), at); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(want ...byte) {
		t.Helper()
		for i, v := range want {
			got := make([]byte, 4096)
			if _, err := d.ReadAt(got, int64(i*4096)); err != nil || !bytes.Equal(got, block(v)) {
				t.Errorf("block %d has %d, want %d; %v", i, got[0], v, err)
			}
		}
	}
	save := func() *layer {
		t.Helper()
		l, err := d.save()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	restore := func(l *layer) {
		t.Helper()
		if err := d.restore(l); err != nil {
			t.Fatal(err)
		}
	}
	drop := func(l *layer) {
		t.Helper()
		if err := d.drop(l); err != nil {
			t.Fatal(err)
		}
	}
	write(1, 0)
	a := save()
	write(2, 4096)
	b := save()
	write(3, 0)
	holds(3, 2, 0)
	restore(a)
	holds(1, 0, 0)
	write(4, 8192)
	c := save() // a branch beside b
	restore(b)
	holds(1, 2, 0)
	if err := d.Zero(0, 4096); err != nil {
		t.Fatal(err)
	}
	restore(c)
	holds(1, 0, 4)
	drop(a) // b and c stand on it
	restore(b)
	holds(1, 2, 0)
	drop(b) // the disk stands on it
	holds(1, 2, 0)
	restore(c)
	holds(1, 0, 4)
	if b.users != 0 || a.users != 1 || c.users != 2 {
		t.Errorf("users: a %d, b %d, c %d; want 1, 0, 2", a.users, b.users, c.users)
	}
	if _, err := b.disk.ReadAt(make([]byte, 4096), 4096); err == nil {
		t.Error("a layer without users is open")
	}
	drop(c)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if a.users != 0 || c.users != 0 {
		t.Errorf("users after all: a %d, c %d", a.users, c.users)
	}
}

func TestDiskDepth(t *testing.T) {
	d, err := NewDisk(zeros(1 << 20))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var layers []*layer
	for {
		l, err := d.save()
		if err != nil {
			break
		}
		layers = append(layers, l)
		if len(layers) > maxDepth {
			t.Fatal("there is no end")
		}
	}
	if len(layers) != maxDepth {
		t.Errorf("%d layers, want %d", len(layers), maxDepth)
	}
	if _, err := d.WriteAt(make([]byte, 512), 0); err != nil { // it goes on
		t.Error(err)
	}
	for _, l := range layers {
		if err := d.drop(l); err != nil {
			t.Error(err)
		}
	}
}
