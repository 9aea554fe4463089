package volume_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/interp/volume"
)

// image is a file as a disk.
type image struct {
	*os.File
	size uint64
}

func (i image) Size() uint64 { return i.size }

// noSync is a library in which sync(2) and sleep(3) do nothing. The tools call both at their end. A
// sync would wait for the file systems of all other tests.
var noSync string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "volume")
	if err != nil {
		panic(err)
	}
	noSync = filepath.Join(dir, "nosync.so")
	c := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-o", noSync, "-")
	c.Stdin = strings.NewReader(`int sync(void) { return 0; }
		unsigned sleep(unsigned n) { return n - n; }
		int usleep(unsigned n) { return n - n; }
		int nanosleep(void *want, void *left) { return want - want; }
`)
	if out, err := c.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("gcc: %v\n%s", err, out))
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// environment returns the environment of the tools.
func environment() []string {
	return append(os.Environ(), "PATH="+os.Getenv("PATH")+":/sbin:/usr/sbin", "LD_PRELOAD="+noSync)
}

// newImage makes a sparse file of size bytes, in memory if the machine has a place for that: the
// tools flush it often.
func newImage(t *testing.T, size int64) image {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "volume")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return image{f, uint64(size)}
}

// sh runs a command of the shell, with $D as the image.
func (i image) sh(t *testing.T, script string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", script)
	c.Env = append(environment(), "D="+i.Name())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func read(t *testing.T, i image) *volume.Map {
	t.Helper()
	m, err := volume.Read(i)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// volumesOf lists path, start and size of the volumes.
func volumesOf(m *volume.Map) []string {
	var all []string
	for _, v := range m.Volumes {
		line := v.Path
		for _, e := range v.Extents() {
			line += fmt.Sprintf(" %d+%d", e.Addr/512, e.Len/512)
		}
		all = append(all, line)
	}
	return all
}

// sfdisk lists the partitions that sfdisk sees, without extended ones.
func sfdisk(t *testing.T, i image) []string {
	t.Helper()
	var out struct {
		PartitionTable struct {
			Partitions []struct {
				Node, Type  string
				Start, Size uint64
			}
		}
	}
	if err := json.Unmarshal([]byte(i.sh(t, `sfdisk --json $D`)), &out); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range out.PartitionTable.Partitions {
		if p.Type != "5" && p.Type != "f" {
			all = append(all, fmt.Sprintf("p%s %d+%d", strings.TrimPrefix(p.Node, i.Name()), p.Start,
				p.Size))
		}
	}
	return all
}

// TestPartitionsOfTools checks that the partitions are those that sfdisk sees in the tables of
// sfdisk, sgdisk and parted.
func TestPartitionsOfTools(t *testing.T) {
	for name, script := range map[string]string{
		"sfdisk gpt": `printf 'label: gpt\nsize=1M,type=21686148-6449-6E6F-744E-656564454649
			size=40M\n\n' | sfdisk -q $D`,
		"sfdisk dos": `printf 'label: dos\nsize=10M\nsize=80M,type=5\nsize=20M
			size=4M\nsize=5M\nsize=6M\n' | sfdisk -q $D`,
		"sgdisk":     `sgdisk -S 200 -n 5:0:+8M -n 2:0:+9M -n 150:0:0 $D`,
		"parted gpt": `parted -s $D mklabel gpt mkpart a 1MiB 20MiB mkpart b 30MiB 100%`,
		"parted dos": `parted -s $D mklabel msdos mkpart primary 1MiB 20MiB mkpart extended 20MiB 100% \
			mkpart logical 21MiB 30MiB mkpart logical 31MiB 40MiB mkpart logical 50MiB 60MiB rm 6`,
	} {
		t.Run(name, func(t *testing.T) {
			i := newImage(t, 128<<20)
			i.sh(t, script)
			m := read(t, i)
			if d := cmp.Diff(sfdisk(t, i), volumesOf(m)); d != "" {
				t.Errorf("volumes (-sfdisk +got):\n%s", d)
			}
			if len(m.Faults) > 0 {
				t.Errorf("faults: %v", m.Faults)
			}
		})
	}
}
