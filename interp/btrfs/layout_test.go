package btrfs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
)

// The tables of members agree with the kernel's header, as a C compiler reads it.
func TestLayoutsAgreeWithHeader(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Fatal("gcc is not installed: it is in the Debian package gcc (make setup installs it)")
	}
	var c, want strings.Builder
	c.WriteString("#include <stdio.h>\n#include <stddef.h>\n#include <linux/btrfs_tree.h>\nint main(void) {\n")
	seen := map[string]bool{}
	for k := kindFreeSpaceHeader; k < kindSuperBlock; k++ {
		s := itemTypes[k].layout
		if s == nil || seen[s.name] {
			continue
		}
		seen[s.name] = true
		fmt.Fprintf(&c, "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", s.name, s.name)
		fmt.Fprintf(&want, "%s %d\n", s.name, s.size)
		for _, f := range s.fields {
			member := f.member
			if strings.HasSuffix(member, "time") { // of a btrfs_timespec, the seconds
				member += ".sec"
			}
			fmt.Fprintf(&c, "printf(\"%s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", s.name, member, s.name, member, s.name, member)
			fmt.Fprintf(&want, "%s.%s %d %d\n", s.name, member, f.off, f.width)
		}
	}
	c.WriteString("return 0; }\n")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(src, []byte(c.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v (linux/btrfs_tree.h is in the Debian package linux-libc-dev)\n%s", err, out)
	}
	got, err := exec.Command(bin).Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		g, w := strings.Split(string(got), "\n"), strings.Split(want.String(), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Errorf("the header says %s, the table %s", g[i], w[i])
			}
		}
	}
}

// Kinds are in the order of key types, so that objects sort as keys do; every field has a name.
func TestSchema(t *testing.T) {
	for k := kindFreeSpaceHeader; k < kindSuperBlock; k++ {
		if itemTypes[k].name == "" || itemTypes[k].doc == "" {
			t.Errorf("kind %d has no name or doc", k)
		}
		if k > kindFreeSpaceHeader && itemTypes[k].typ <= itemTypes[k-1].typ {
			t.Errorf("%s is not in the order of key types", itemTypes[k].name)
		}
	}
	names := map[string]bool{}
	for f, name := range fieldNames {
		if name == "" || names[name] {
			t.Errorf("field %d has the name %q", f, name)
		}
		names[name] = true
	}
	s := Schema()
	if k, ok := s.KindByName("dir_item"); !ok || s.Kinds[k].Shape != change.ShapeKey || len(s.Kinds[k].Fields) == 0 {
		t.Error("dir_item is not declared")
	}
	for i, w := range words {
		if w == "" {
			t.Errorf("word %d has no name", i)
		}
	}
	rules := map[string]bool{}
	for _, r := range structureRules {
		if rules[r.name] || !strings.HasPrefix(r.name, "btrfs/") || !strings.HasSuffix(r.doc, ".") {
			t.Errorf("rule %q: %q", r.name, r.doc)
		}
		rules[r.name] = true
	}
}

// The hashes, by values that the kernel computed (btrfs inspect-internal dump-tree of a real image).
func TestHashes(t *testing.T) {
	if h := nameHash([]byte("default")); h != 2378154706 {
		t.Errorf("hash of default is %d", h)
	}
}

// A rule names a field by its name alone.
func TestFieldNamesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range Schema().Fields {
		if seen[name] || name == "" {
			t.Errorf("two fields are named %q", name)
		}
		seen[name] = true
	}
}
