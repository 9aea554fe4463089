package blocktap

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBlockDevice opens a loop device as a disk. Partitions and logical volumes take the same path.
func TestBlockDevice(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test creates a loop device: run it as root")
	}
	content := pattern(16 << 20)
	path := sparseFile(t, 16<<20, 0, content)
	out, err := exec.Command("losetup", "--find", "--show", path).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup (Debian package mount): %v: %s", err, out)
	}
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", loop).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach %s: %v: %s", loop, err, out)
		}
	})
	d := open(t, loop, FileOptions{})
	defer d.Close()
	if d.Size() != 16<<20 {
		t.Errorf("size %d", d.Size())
	}
	var busy *BusyError
	if _, err := OpenFile(loop, FileOptions{}); !errors.As(err, &busy) {
		t.Errorf("second open of a device: %v, want a BusyError", err)
	}
	if err := d.Zero(1<<20, 4096); err != nil {
		t.Error(err)
	}
	if err := d.ZeroReserved(2<<20, 512); err != nil {
		t.Error(err)
	}
	if err := d.Trim(8<<20, 1<<20); err != nil {
		t.Error(err)
	}
	if _, err := d.WriteAt(content[:4096], 4<<20); err != nil {
		t.Error(err)
	}
	if err := d.Flush(); err != nil {
		t.Error(err)
	}
	copy(content[4<<20:], content[:4096])
	clear(content[1<<20 : 1<<20+4096])
	clear(content[2<<20 : 2<<20+512])
	got := make([]byte, 8<<20)
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, content[:8<<20]) {
		t.Errorf("the device does not hold the data that was written: %v", err)
	}
	runs, err := d.Extents(0, 16<<20)
	if err != nil || len(runs) != 1 || runs[0].Hole {
		t.Errorf("extents of a device: %v, %v", runs, err)
	}
}
