package guest

import (
	"bytes"
	"testing"
)

// zeros is a base image of zeros. Its value is the size in bytes.
type zeros uint64

func (z zeros) Size() uint64 { return uint64(z) }

func (z zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// diskRig operates a Disk, and fails the test on errors.
type diskRig struct {
	t *testing.T
	*Disk
}

// blockOf returns a block of 4096 equal bytes.
func blockOf(v byte) []byte { return bytes.Repeat([]byte{v}, 4096) }

// write writes a block of v at off.
func (r *diskRig) write(v byte, off int64) {
	r.t.Helper()
	if _, err := r.WriteAt(blockOf(v), off); err != nil {
		r.t.Fatal(err)
	}
}

// holds checks the values of the first blocks.
func (r *diskRig) holds(want ...byte) {
	r.t.Helper()
	for i, v := range want {
		got := make([]byte, 4096)
		if _, err := r.ReadAt(got, int64(i*4096)); err != nil || !bytes.Equal(got, blockOf(v)) {
			r.t.Errorf("block %d has %d, want %d; %v", i, got[0], v, err)
		}
	}
}

func (r *diskRig) mustSave() *layer {
	r.t.Helper()
	l, err := r.save()
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

func (r *diskRig) mustRestore(l *layer) {
	r.t.Helper()
	if err := r.restore(l); err != nil {
		r.t.Fatal(err)
	}
}

func (r *diskRig) mustDrop(l *layer) {
	r.t.Helper()
	if err := r.drop(l); err != nil {
		r.t.Fatal(err)
	}
}

// TestDiskLayers checks that restore brings back the content of a checkpoint, on any branch, and
// that the last reference to a layer closes it.
func TestDiskLayers(t *testing.T) {
	disk, err := NewDisk(zeros(1 << 20))
	if err != nil {
		t.Fatal(err)
	}
	d := &diskRig{t, disk}
	d.write(1, 0)
	a := d.mustSave()
	d.write(2, 4096)
	b := d.mustSave()
	d.write(3, 0)
	d.holds(3, 2, 0)
	d.mustRestore(a)
	d.holds(1, 0, 0)
	d.write(4, 8192)
	c := d.mustSave() // a and then c: a branch beside b
	d.mustRestore(b)
	d.holds(1, 2, 0)
	if err := d.Zero(0, 4096); err != nil {
		t.Fatal(err)
	}
	d.mustRestore(c)
	d.holds(1, 0, 4)
	d.mustDrop(a) // b and c refer to it
	d.mustRestore(b)
	d.holds(1, 2, 0)
	d.mustDrop(b) // the disk refers to it
	d.holds(1, 2, 0)
	d.mustRestore(c)
	d.holds(1, 0, 4)
	if b.users != 0 || a.users != 1 || c.users != 2 {
		t.Errorf("users: a %d, b %d, c %d; want 1, 0, 2", a.users, b.users, c.users)
	}
	if _, err := b.disk.ReadAt(make([]byte, 4096), 4096); err == nil {
		t.Error("a layer without users is not closed")
	}
	d.mustDrop(c)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if a.users != 0 || c.users != 0 {
		t.Errorf("users at the end: a %d, c %d; want 0", a.users, c.users)
	}
}

// TestDiskDepth checks the bound of the layers, and that the disk works at the bound.
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
			t.Fatal("the number of layers has no bound")
		}
	}
	if len(layers) != maxDepth {
		t.Errorf("%d layers, want %d", len(layers), maxDepth)
	}
	if _, err := d.WriteAt(make([]byte, 512), 0); err != nil {
		t.Error(err)
	}
	for _, l := range layers {
		if err := d.drop(l); err != nil {
			t.Error(err)
		}
	}
}
