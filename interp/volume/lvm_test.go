package volume_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/interp"
	"fsward/interp/volume"
)

// firstExtent is the sector of the first extent of a PV, after a ring of metadata of 60 KiB.
const firstExtent = 128

// pvcreate makes a small ring of metadata.
const pvcreate = "pvcreate -q --metadatasize 60k --dataalignment 64k"

// lvm is a set of disks that LVM's programs use through loop devices.
type lvm struct {
	images  []image
	devices []string
	conf    string
}

// newLVM makes disks of the sizes given. LVM sees nothing else. There need be no device mapper:
// nothing is activated.
func newLVM(t *testing.T, sizes ...int64) *lvm {
	t.Helper()
	l := &lvm{conf: t.TempDir()}
	for _, size := range sizes {
		i := newImage(t, size)
		l.attach(t, i, 0)
		l.images = append(l.images, i)
	}
	l.configure(t)
	return l
}

// attach makes a loop device of an image, from a byte on.
func (l *lvm) attach(t *testing.T, i image, off int64) {
	t.Helper()
	dev := strings.TrimSpace(i.sh(t, fmt.Sprintf("losetup -o %d -f --show $D", off)))
	t.Cleanup(func() { i.sh(t, "losetup -d "+dev) })
	l.devices = append(l.devices, dev)
}

// configure lets LVM see the devices so far.
func (l *lvm) configure(t *testing.T) {
	t.Helper()
	var filter strings.Builder
	for _, d := range l.devices {
		fmt.Fprintf(&filter, "%q, ", "a|^"+d+"$|")
	}
	text := fmt.Sprintf(`devices { filter = [ %s "r|.*|" ]
use_devicesfile = 0
obtain_device_list_from_udev = 0
multipath_component_detection = 0 }
activation { udev_sync = 0
udev_rules = 0
monitoring = 0 }
global { locking_dir = %q }
backup { backup = 0
archive = 0 }
`, filter.String(), l.conf+"/lock")
	if err := os.WriteFile(filepath.Join(l.conf, "lvm.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs commands of LVM, one a line, in which $0, $1, … are the devices, and returns what they
// print on stdout.
func (l *lvm) run(t *testing.T, script string) string {
	t.Helper()
	for i := len(l.devices) - 1; i >= 0; i-- {
		script = strings.ReplaceAll(script, fmt.Sprintf("$%d", i), l.devices[i])
	}
	var all string
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		c := exec.Command("lvm", slices.Insert(words, 1, "--driverloaded", "n")...)
		c.Env = append(environment(), "LVM_SYSTEM_DIR="+l.conf, "LVM_SUPPRESS_FD_WARNINGS=1")
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
		}
		all += string(out)
	}
	return all
}

// disks returns the images as disks of one guest.
func (l *lvm) disks(t *testing.T) interp.Disk {
	t.Helper()
	var disks []interp.Disk
	for _, i := range l.images {
		disks = append(disks, i)
	}
	set, err := interp.NewSet(disks...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// segments lists the segments that lvs sees: LV, start, size, sectors of a stripe, and the first
// address of each stripe, all in sectors but the address.
func (l *lvm) segments(t *testing.T, base map[string]uint64) []string {
	t.Helper()
	out := l.run(t, "lvs --segments --units s --nosuffix --noheadings --separator | -o "+
		"vg_name,lv_name,seg_start,seg_size,stripe_size,vg_extent_size,seg_pe_ranges")
	var all []string
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		extent := number(t, f[5])
		line := fmt.Sprintf("%s/%s %s+%s %s:", f[0], f[1], f[2], f[3], f[4])
		for _, r := range strings.Fields(f[6]) {
			dev, place, _ := strings.Cut(r, ":")
			first, _, _ := strings.Cut(place, "-")
			line += fmt.Sprintf(" %d", base[dev]+(firstExtent+number(t, first)*extent)*512)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// segmentsOf lists the segments of a map in the same way.
func segmentsOf(m *volume.Map) []string {
	var all []string
	for _, v := range m.Volumes {
		if v.Kind != volume.LV {
			continue
		}
		for _, s := range v.Segments {
			line := fmt.Sprintf("%s %d+%d %d:", v.Path, s.Start/512, s.Len/512, s.Chunk/512)
			for _, addr := range s.Stripes {
				line += fmt.Sprintf(" %d", addr)
			}
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// TestLogicalVolumesOfTools checks that the logical volumes are those that lvs sees, after each of
// many changes. The ring of metadata wraps meanwhile.
func TestLogicalVolumesOfTools(t *testing.T) {
	l := newLVM(t, 64<<20, 96<<20)
	l.images[1].sh(t, `printf 'label: gpt\nstart=4096,size=64M\n' | sfdisk -q $D`)
	l.attach(t, l.images[1], 4096*512)
	l.devices = slices.Delete(l.devices, 1, 2)
	l.configure(t)
	base := map[string]uint64{l.devices[0]: 0, l.devices[1]: interp.Address(1, 4096*512)}
	l.run(t, pvcreate+` $0
		`+pvcreate+` $1
		vgcreate -q -s 1m vg $0 $1
		lvcreate -q -l 3 -n one -an -Zn -Wn vg
		lvcreate -q -i 2 -I 16 -l 10 -n striped -an -Zn -Wn vg
		lvcreate -q -l 5 -n two -an -Zn -Wn vg
		lvextend -q -l +1 vg/one`)
	check := func() {
		t.Helper()
		m, err := volume.Read(l.disks(t))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l.segments(t, base), segmentsOf(m)); d != "" {
			t.Fatalf("segments (-lvs +got):\n%s", d)
		}
		if len(m.Faults) > 0 {
			t.Fatalf("faults: %v", m.Faults)
		}
		checkPlaces(t, m)
	}
	check()
	for range 6 {
		l.run(t, `lvextend -q -l +1 vg/one
			lvextend -q -l +2 vg/striped
			lvremove -q -f vg/two
			lvcreate -q -l 4 -n two -an -Zn -Wn vg`)
		check()
	}
	sizes := l.run(t, "pvs --units b --nosuffix --noheadings -o pv_mda_size")
	ring := number(t, strings.Fields(sizes)[0])
	if ring > 64<<10 {
		t.Fatalf("the ring of metadata has %d bytes: it does not wrap", ring)
	}
	l.run(t, `vgrename -q vg other`)
	check()
}

// checkPlaces checks that Volume and Address are each other's reverse at many places.
func checkPlaces(t *testing.T, m *volume.Map) {
	t.Helper()
	for v := range m.Volumes {
		size := m.Volumes[v].Size
		for off := uint64(0); off < size; {
			addr, n := m.Address(v, off)
			w, back, left, ok := m.Volume(addr)
			if !ok || w != v || back != off || left != n || n == 0 {
				t.Fatalf("%s: byte %d is at %d (%d), which is byte %d of volume %d (%d, %v)",
					m.Volumes[v].Path, off, addr, n, back, w, left, ok)
			}
			if p := m.Place(addr); p.What != volume.InVolume || p.Index != v || p.Len != n {
				t.Fatalf("%s: byte %d is in %+v, want %d bytes", m.Volumes[v].Path, off, p, n)
			}
			off += n
		}
		if _, n := m.Address(v, size); n != 0 {
			t.Fatalf("%s has bytes behind its end", m.Volumes[v].Path)
		}
	}
}
