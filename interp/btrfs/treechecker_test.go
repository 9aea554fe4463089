package btrfs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fsward/change"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// liveLeaf returns the only leaf of a tree and its device address. mkfs leaves older leaves behind,
// so it takes the leaf of the highest generation.
func liveLeaf(d *sparseDisk, tree uint64) (leaf []byte, at int64) {
	newest := uint64(0)
	for _, addr := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, addr)
		if b[ondisk.HeaderLevelAt] != 0 || get64(b, ondisk.HeaderOwnerAt) != tree {
			continue
		}
		if g := get64(b, ondisk.HeaderGenerationAt); g > newest {
			newest, leaf, at = g, b, addr
		}
	}
	return leaf, at
}

// alterFirst alters the first item that fits in the leaf of a tree, and recomputes the checksum. It
// returns false if no item fits.
func alterFirst(
	d *sparseDisk, tree uint64, typ byte, with func([]byte) bool, a alteration,
) bool {
	b, at := liveLeaf(d, tree)
	for i := range itemCount(b) {
		data := itemData(b, i)
		if itemKey(b, i).Type != typ || with != nil && !with(data) {
			continue
		}
		if a.off < 0 {
			copy(itemHead(b, i)[a.off-itemHeader:], num(a.width, a.value))
		} else {
			copy(data[a.off:], num(a.width, a.value))
		}
		reseal(b)
		_, _ = d.WriteAt(b, at)
		return true
	}
	return false
}

// TestTreeChecker checks that Image reports each fault that the kernel's tree-checker reports,
// after one number in a block of a real file system was altered and the checksum recomputed. The
// unaltered file system is sound.
func TestTreeChecker(t *testing.T) {
	seed := seedDisk(t)
	if obs, err := btrfs.Image(seed); err != nil || obs.Unknown != nil || len(obs.Violations) > 0 {
		t.Fatalf("the unaltered image: %v %+v", err, obs.Violations)
	}
	for _, item := range alterations {
		for _, a := range item.which {
			name := fmt.Sprintf("%d/%d/%d=%d", item.tree, item.typ, a.off, a.value)
			t.Run(name, func(t *testing.T) {
				d := seed.clone()
				if !alterFirst(d, item.tree, item.typ, item.with, a) {
					t.Fatal("there is no such item")
				}
				obs, err := btrfs.Image(d)
				said := fmt.Sprint(err, obs.Unknown)
				for _, v := range obs.Violations {
					if v.Kind == change.ByStructure && strings.Contains(v.Detail, a.want) {
						return
					}
					said += "\n" + v.Rule + " " + v.Detail
				}
				if err == nil || !strings.Contains(err.Error(), a.want) {
					t.Errorf("want %q: %s", a.want, said)
				}
			})
		}
	}
}

// TestTreeCheckerLeaf checks that Image reports faults of a leaf as a whole.
func TestTreeCheckerLeaf(t *testing.T) {
	seed := seedDisk(t)
	for want, change := range map[string]func(b []byte){
		"the flag WRITTEN": func(b []byte) { b[ondisk.HeaderFlagsAt] = 0 },
		"tree 5 is empty":  put32(ondisk.HeaderNrItemsAt, 0),
	} {
		d := seed.clone()
		b, at := liveLeaf(d, 5)
		change(b)
		reseal(b)
		_, _ = d.WriteAt(b, at)
		obs, err := btrfs.Image(d)
		if err != nil || len(obs.Violations) == 0 || !strings.Contains(obs.Violations[0].Detail, want) {
			t.Errorf("want %q: %v %+v", want, err, obs.Violations)
		}
	}
}

// TestTreeCheckerDocument checks that all functions and rules that docs/dev/tree-checker.md names
// exist, except those of Linux.
func TestTreeCheckerDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/dev/tree-checker.md")
	must(t, err)
	files, err := filepath.Glob("*.go")
	must(t, err)
	known := map[string]bool{}
	for _, f := range files {
		source, err := os.ReadFile(f)
		must(t, err)
		function := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)\(`)
		for _, m := range function.FindAllSubmatch(source, -1) {
			known[string(m[1])] = true
		}
	}
	for _, r := range builtin(t).Rules() {
		known[strings.TrimPrefix(r.Name, "btrfs/")] = true
	}
	rows := 0
	for _, line := range strings.Split(string(doc), "\n") {
		head, isHead := strings.CutPrefix(line, "## ")
		report, by, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		switch {
		case isHead:
			report, by = "heading", head
		case !ok || !strings.HasPrefix(line, "| "):
			continue
		default:
			rows++
		}
		named := regexp.MustCompile("`(?:\\w+\\.)?(\\w+)`|rule (\\d+)")
		for _, m := range named.FindAllStringSubmatch(by, -1) {
			if name := m[1] + m[2]; !known[name] {
				t.Errorf("%s: there is no function or rule %s", report, name)
			}
		}
	}
	if rows < 60 {
		t.Errorf("the tables have %d rows", rows)
	}
}

// TestUUIDTwice checks that a subvolume that occurs twice under its UUID is one object.
func TestUUIDTwice(t *testing.T) {
	data := join(num(8, 256), num(8, 256), num(8, 257))
	if n, err := btrfs.FuzzedItem(9, 1, 2, 251, data); n != 2 || err != nil {
		t.Errorf("%d objects, %v; want 2", n, err)
	}
}
