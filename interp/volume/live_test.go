package volume_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/interp"
	"fsward/interp/volume"
	"fsward/invariants"
)

// judge follows the tables of a guest's disks, and judges each change by the rules.
type judge struct {
	tables  *volume.Tables
	engine  invariants.Engine
	found   []string
	commits int
	mu      sync.Mutex
}

func newJudge(t testing.TB, d interp.Disk) *judge {
	t.Helper()
	files, err := invariants.Builtin("volume")
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{}
	j.engine, err = invariants.NewCompiled(volume.Schema(), files, invariants.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if j.tables, err = volume.NewTables(d, volume.ReadUse); err != nil {
		t.Fatal(err)
	}
	return j
}

// rules returns the names of the rules and checks that an observation violates.
func (j *judge) rules(obs interp.Observation) []string {
	var names []string
	for _, v := range obs.Violations {
		names = append(names, v.Rule+": "+v.Detail)
	}
	if obs.Unknown != nil {
		names = append(names, "undecided: "+obs.Unknown.Error())
	}
	if obs.Txn == nil {
		return names
	}
	verdict := j.engine.Check(context.Background(), obs.Txn, obs.View)
	verdict.AddWitnesses(obs.Txn)
	for _, v := range verdict.Violations {
		names = append(names, fmt.Sprintf("%s: %s %s", v.Rule, v.Tree, v.ID))
	}
	for _, u := range verdict.Undecided {
		names = append(names, "undecided: "+u)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hook judges the requests to one disk. It lets all of them through.
type hook struct {
	*judge
	disk int
}

func (h hook) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Op == blocktap.OpFlush {
		err := do()
		h.tables.Flushed(h.disk, r.Seq)
		return err
	}
	w := interp.Write{Off: interp.Address(h.disk, r.Off), Len: r.Len, Data: r.Data,
		Discard: r.Op == blocktap.OpTrim}
	obs := h.tables.Observe(w)
	if obs.Txn != nil {
		h.commits++
	}
	for _, rule := range h.rules(obs) {
		h.found = append(h.found, fmt.Sprintf("%s of %d bytes at %d: %s", r.Op, r.Len, r.Off, rule))
	}
	err := do()
	h.tables.Settle(err == nil)
	return err
}

// machine is disks that tools use through FUSE and loop devices, with a judge between.
type machine struct {
	*lvm
	*judge
}

func newMachine(t *testing.T, sizes ...int64) *machine {
	t.Helper()
	l := &lvm{conf: t.TempDir()}
	for _, size := range sizes {
		l.images = append(l.images, newImage(t, size))
	}
	m := &machine{l, newJudge(t, l.disks(t))}
	for n, i := range l.images {
		file, err := blocktap.OpenFile(i.Name(), blocktap.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		device := blocktap.NewDevice(file, hook{m.judge, n})
		loop, err := loopmount.Attach(t.Context(), device, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = loop.Close() })
		l.devices = append(l.devices, loop.LoopDev)
	}
	l.configure(t)
	return m
}

// step runs a script and expects no violation, and that the map that was followed is the one on the
// disks.
func (m *machine) step(t *testing.T, script string, run func(string)) {
	t.Helper()
	before := m.commits
	run(script)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.found) > 0 {
		t.Fatalf("%s: violations:\n%s", script, strings.Join(m.found, "\n"))
	}
	want, err := volume.Read(m.lvm.disks(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(describe(want), describe(m.tables.Map())); d != "" {
		t.Fatalf("%s: map (-on the disk +followed):\n%s", script, d)
	}
	t.Logf("%d changes: %s", m.commits-before, script)
}

// describe lists the contents of a map.
func describe(m *volume.Map) []string {
	all := append(volumesOf(m), segmentsOf(m)...)
	for _, v := range m.Volumes {
		all = append(all, fmt.Sprintf("%s %d %s %q", v.Path, v.Size, v.Kind, v.Unguarded))
	}
	for _, t := range m.Tables {
		all = append(all, fmt.Sprint(t))
	}
	for _, f := range m.Faults {
		all = append(all, f.String())
	}
	return all
}

// TestFollowPartitioning checks that the map follows the writes of partitioning tools, which
// violate no rule.
func TestFollowPartitioning(t *testing.T) {
	m := newMachine(t, 128<<20)
	i := m.images[0]
	for _, script := range []string{
		`printf 'label: gpt\nsize=20M\nsize=30M\n' | sfdisk -q $D`,
		`mke2fs -q -t ext3 -E offset=1048576 $D 8M`,
		`echo size=10M | sfdisk -q -a $D`,
		`sfdisk -q --delete $D 2`,
		`echo ,30M | sfdisk -q -N 1 $D`,
		`sgdisk -n 7:0:+5M -c 7:seven -t 7:8e00 $D`,
		`sgdisk -d 7 $D`,
		`sgdisk -n 7:0:+5M -n 8:0:+5M $D`,
		`sgdisk -s $D`, // sort: the numbers change
		`sgdisk -S 256 -n 200:0:+3M $D`,
		`parted -s $D mkpart x 90MiB 100MiB`,
		`parted -s $D resizepart 1 32MiB`,
		`parted -s $D rm 1`,
		`sgdisk -Z $D`,
		`parted -s $D mklabel msdos mkpart primary 1MiB 20MiB mkpart extended 20MiB 100%`,
		`parted -s $D mkpart logical 21MiB 30MiB`,
		`parted -s $D mkpart logical 31MiB 40MiB mkpart logical 50MiB 60MiB`,
		`parted -s $D rm 5`,
		`sfdisk -q --delete $D 5`,
		`printf 'size=2M\nsize=3M\n' | sfdisk -q -a $D`,
		`sgdisk -g $D`,
		`mke2fs -q -F -t ext3 $D`,
		`wipefs -q -a $D`,
		`printf 'label: dos\nsize=20M\n' | sfdisk -q $D`,
	} {
		m.step(t, script, func(s string) {
			i.sh(t, strings.ReplaceAll(s, "$D", m.devices[0]))
			out := i.sh(t, `sfdisk --verify $D 2>&1 || true; sgdisk -v $D 2>&1 || true`)
			for _, table := range m.tables.Map().Tables {
				if !strings.Contains(out, "No errors detected") ||
					table.Kind == volume.GPT && !strings.Contains(out, "No problems found") {
					t.Fatalf("%s: %s", script, out)
				}
			}
		})
	}
}

// TestFollowLVM checks that the map follows the writes of LVM, on a whole disk and on another one.
func TestFollowLVM(t *testing.T) {
	m := newMachine(t, 64<<20, 64<<20)
	for _, script := range []string{
		pvcreate + " $0", "vgcreate -q -s 1m vg $0", "lvcreate -q -l 3 -n one -an -Zn -Wn vg",
		pvcreate + " $1", "vgextend -q vg $1", "lvcreate -q -i 2 -I 16 -l 10 -n striped -an -Zn -Wn vg",
		"lvextend -q -l +1 vg/one", "lvrename -q vg one two", "vgrename -q vg other",
		"lvremove -q -f other/striped", "vgck other", "vgreduce -q other $1",
		"vgcreate -q -s 1m third $1",
		"lvcreate -q -l 2 -n three -an -Zn -Wn third",
		"vgmerge -q other third", "vgsplit -q other again $1", "pvchange -q -u $1",
		"vgremove -q -f again", "pvremove -q $1", "lvreduce -q -f -l 2 other/two",
		"vgremove -q -f other", "pvremove -q $0",
	} {
		m.step(t, script, func(s string) { m.run(t, s) })
	}
}
