package ondisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
)

// TestLayoutsAgreeWithHeader checks that the tables of members agree with the kernel's header as a
// C compiler reads it.
func TestLayoutsAgreeWithHeader(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Fatal("gcc is not installed: it is in the Debian package gcc (make setup installs it)")
	}
	var c, want strings.Builder
	for _, header := range []string{"stdio.h", "stddef.h", "linux/btrfs_tree.h"} {
		fmt.Fprintf(&c, "#include <%s>\n", header)
	}
	c.WriteString("int main(void) {\n")
	seen := map[string]bool{}
	for k := KindFreeSpaceHeader; k < KindSuperBlock; k++ {
		s := ItemTypes[k].Layout
		if s == nil || seen[s.Name] {
			continue
		}
		seen[s.Name] = true
		fmt.Fprintf(&c, "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", s.Name, s.Name)
		fmt.Fprintf(&want, "%s %d\n", s.Name, s.Size)
		for _, f := range s.Fields {
			member := f.Name
			if strings.HasSuffix(member, "time") { // the table has the seconds of a btrfs_timespec
				member += ".sec"
			}
			offset := fmt.Sprintf("offsetof(struct %s, %s)", s.Name, member)
			size := fmt.Sprintf("sizeof(((struct %s *)0)->%s)", s.Name, member)
			fmt.Fprintf(&c, "printf(\"%s.%s %%zu %%zu\\n\", %s, %s);\n", s.Name, member, offset, size)
			fmt.Fprintf(&want, "%s.%s %d %d\n", s.Name, member, f.Off, f.Width)
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
				t.Errorf("linux/btrfs_tree.h has %s, the table has %s", g[i], w[i])
			}
		}
	}
}

// TestSchema checks that kinds are in the order of key types, so that objects sort as keys do.
// Every field has a name.
func TestSchema(t *testing.T) {
	for k := KindFreeSpaceHeader; k < KindSuperBlock; k++ {
		if ItemTypes[k].Name == "" || ItemTypes[k].Doc == "" {
			t.Errorf("kind %d has no name or doc", k)
		}
		if k > KindFreeSpaceHeader && ItemTypes[k].Type <= ItemTypes[k-1].Type {
			t.Errorf("%s is not in the order of key types", ItemTypes[k].Name)
		}
	}
	names := map[string]bool{}
	for f, name := range fieldNames {
		if name == "" || names[name] {
			t.Errorf("field %d has the name %q", f, name)
		}
		names[name] = true
	}
	s := Schema
	k, ok := s.KindByName("dir_item")
	if !ok || s.Kinds[k].Shape != change.ShapeKey || len(s.Kinds[k].Fields) == 0 {
		t.Error("dir_item is not declared")
	}
	for i, w := range words {
		if w == "" {
			t.Errorf("word %d has no name", i)
		}
	}
}

// TestHashes checks that NameHash returns the hash that the kernel computed: btrfs inspect-internal
// dump-tree shows it for a real image.
func TestHashes(t *testing.T) {
	if h := NameHash([]byte("default")); h != 2378154706 {
		t.Errorf("hash of default is %d", h)
	}
}

// TestFieldNamesDiffer checks that field names are unique, since a rule names a field without its
// kind.
func TestFieldNamesDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range Schema.Fields {
		if seen[name] || name == "" {
			t.Errorf("two fields are named %q", name)
		}
		seen[name] = true
	}
}
