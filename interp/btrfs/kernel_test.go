package btrfs_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/invariants"
)

// A kernel is a file system that the host's kernel has mounted from a file. After each commit, its
// interpreter observes the blocks that have changed, and the superblock last.
type kernel struct {
	t       *testing.T
	image   string
	mnt     string
	disk    *sparseDisk // the disk as the interpreter knows it
	fs      *btrfs.FS
	engine  invariants.Engine // nil: no rules
	model   model
	commits int
	records int
	logs    int // log commits
	skips   int // commits that were judged as a whole
}

// A model is the state of a file system that results from its records: object and field → value, as
// text.
type model map[string]string

func modelKey(o change.Object, f change.Field, names *change.Names) string {
	s := btrfs.Schema()
	return fmt.Sprintf("%s %s %d %s", s.TreeText(o), s.IDText(o, names), o.Aux, s.FieldName(f))
}

// apply applies a transaction to the model. The old values of the records must be those of the
// model.
func (m model) apply(t testing.TB, txn *change.Txn) {
	t.Helper()
	s := btrfs.Schema()
	before, copies := maps.Clone(m), txn.Copies
	for _, r := range txn.Records {
		for ; len(copies) > 0 && copies[0].Tree <= r.Object.Tree; copies = copies[1:] {
			m.copyTree(copies[0], before)
		}
		key := modelKey(r.Object, r.Field, txn.Names)
		old, now := s.ValueText(r.Old, txn.Names), s.ValueText(r.New, txn.Names)
		was, ok := m[key]
		if !ok {
			was = "null"
		}
		if was != old {
			t.Errorf("generation %d: %s was %s, the record says %s", txn.Generation, key, was, old)
		}
		if now == "null" {
			delete(m, key)
		} else {
			m[key] = now
		}
		// A tree that is being dropped makes no records: its objects go with the last reference.
		ofRoot := s.KindName(r.Object.Kind) == "root_item" && s.FieldName(r.Field) == "refs"
		if ofRoot && (now == "0" || now == "null") {
			tree := change.NumText(r.Object.ID) + " "
			maps.DeleteFunc(m, func(key, _ string) bool { return strings.HasPrefix(key, tree) })
		}
	}
	for _, c := range copies {
		m.copyTree(c, before)
	}
}

// copyTree copies the objects of the source of a snapshot. before is the model before the
// transaction. The records of the source come before those of the snapshot.
func (m model) copyTree(c change.Copy, before model) {
	from := m
	if c.Before {
		from = before
	}
	for key, value := range maps.Clone(from) {
		if rest, ok := strings.CutPrefix(key, change.NumText(c.Of)+" "); ok {
			m[change.NumText(c.Tree)+" "+rest] = value
		}
	}
}

// modelOf returns the model of a whole image, which must be sound.
func modelOf(t testing.TB, d interp.Disk) model {
	t.Helper()
	obs, err := btrfs.Image(d)
	if err != nil || obs.Unknown != nil || len(obs.Violations) > 0 {
		t.Fatalf("the image is not sound: %v %v %v", err, obs.Unknown, obs.Violations)
	}
	m := model{}
	m.apply(t, obs.Txn)
	return m
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func mkfs(t testing.TB, path string, size int64, options ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	run(t, peer(t, "mkfs.btrfs", "btrfs-progs"), append(append([]string{"-q"}, options...), path)...)
}

// startKernel makes a file system and mounts it.
func startKernel(t *testing.T, size int64, options ...string) *kernel {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("this test mounts a file system by loop: run it as root")
	}
	dir := t.TempDir()
	k := &kernel{t: t, image: filepath.Join(dir, "image"), mnt: filepath.Join(dir, "mnt")}
	mkfs(t, k.image, size, options...)
	k.disk = newSparseDisk(uint64(size))
	k.show(func(w interp.Write) { k.disk.apply(w) })
	var err error
	if k.fs, err = btrfs.New(k.disk); err != nil {
		t.Fatal(err)
	}
	k.model = modelOf(t, k.disk)
	if err := os.Mkdir(k.mnt, 0o755); err != nil {
		t.Fatal(err)
	}
	k.mount()
	t.Cleanup(func() { _ = exec.Command("umount", k.mnt).Run() }) // if the test fails before the end
	return k
}

func (k *kernel) mount() {
	k.t.Helper()
	run(k.t, "mount", "-o", "loop,commit=300,noatime", k.image, k.mnt)
}

func (k *kernel) path(name string) string { return filepath.Join(k.mnt, name) }

// show passes the 4 KiB blocks in which the image differs from k.disk, the superblocks last.
func (k *kernel) show(pass func(w interp.Write)) {
	k.t.Helper()
	f, err := os.Open(k.image)
	if err != nil {
		k.t.Fatal(err)
	}
	defer f.Close()
	var supers []interp.Write
	was := make([]byte, 1<<20)
	eachData(k.t, f, func(buf []byte, off int64) {
		_, _ = k.disk.ReadAt(was[:len(buf)], off)
		for i := 0; i < len(buf); i += pageSize {
			page := buf[i:min(i+pageSize, len(buf))]
			if bytes.Equal(page, was[i:i+len(page)]) {
				continue
			}
			w := interp.Write{
				Off: uint64(off) + uint64(i), Len: uint64(len(page)), Data: bytes.Clone(page),
			}
			if isSuper(w) {
				supers = append(supers, w)
				continue
			}
			pass(w)
		}
	})
	for _, w := range supers {
		pass(w)
	}
}

// sync makes the kernel commit, and checks the written blocks. It returns the records of the last
// commit as text.
func (k *kernel) sync() []string {
	k.t.Helper()
	run(k.t, "btrfs", "filesystem", "sync", k.mnt)
	return k.observe()
}

// observe shows the changed blocks to the interpreter, and checks its observations. It returns the
// records of the last commit as text.
func (k *kernel) observe() []string {
	k.t.Helper()
	var text []string
	skipped := false
	k.show(func(w interp.Write) {
		obs := k.fs.Observe(w)
		for _, v := range obs.Violations {
			// One call may show several commits. Then blocks of the base are overwritten before the
			// commit that no longer needs them. The base is no longer sound, so that the commit is
			// judged as a whole image.
			if v.Kind == change.ByWrite {
				skipped = true
			} else {
				k.t.Errorf("write at %d: false alarm %s %s %s at %d: %s",
					w.Off, v.Rule, v.Tree, v.ID, v.Addr, v.Detail)
			}
		}
		if obs.Unknown != nil {
			k.t.Errorf("write at %d: %v", w.Off, obs.Unknown)
		}
		if obs.Point == interp.LogPoint {
			k.logs++
		}
		if obs.Txn != nil {
			if skipped {
				k.model, skipped = model{}, false
				k.skips++
			}
			k.commits++
			k.records += len(obs.Txn.Records)
			text = text[:0]
			for _, r := range obs.Txn.Records {
				text = append(text, btrfs.Schema().RecordText(r, obs.Txn.Names))
			}
			k.ordered(obs.Txn)
			k.model.apply(k.t, obs.Txn)
			if k.engine != nil {
				for _, v := range check(k.t, k.engine, obs.Txn, obs.View) {
					k.t.Errorf("generation %d: false alarm %s %s %s: %v",
						obs.Generation, v.Rule, v.Tree, v.ID, v.Witness)
				}
			}
		}
		k.disk.apply(w)
		k.fs.Settle(true)
	})
	return text
}

// ordered checks that the records are sorted by object.
func (k *kernel) ordered(txn *change.Txn) {
	for i := 1; i < len(txn.Records); i++ {
		a, b := txn.Records[i-1], txn.Records[i]
		if a.Object.Compare(b.Object) > 0 {
			s := btrfs.Schema()
			k.t.Errorf("records out of order: %s before %s",
				s.RecordText(a, txn.Names), s.RecordText(b, txn.Names))
			return
		}
	}
}

// end unmounts the file system, checks the last commits, and runs btrfs check.
func (k *kernel) end() {
	k.t.Helper()
	run(k.t, "umount", k.mnt)
	k.observe()
	run(k.t, "btrfs", "check", k.image)
	// The records of all commits result in the state of the whole image.
	if d := cmp.Diff(modelOf(k.t, k.disk), k.model); d != "" {
		k.t.Errorf("the records do not add up (-image +records):\n%.4000s", d)
	}
	if k.commits == 0 {
		k.t.Error("no commit was seen")
	}
	k.t.Logf("%d commits, %d records", k.commits, k.records)
}
