package ondisk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cStructures are the structures in the headers of e2fsprogs. member returns the name of a member
// in C for the name of a field.
var cStructures = []struct {
	name    string
	columns []Field
	member  func(string) string
}{
	{"struct ext2_super_block", SuperLayout.Fields, func(n string) string { return "s_" + n }},
	{"struct ext2_group_desc", GroupLayout.Fields, func(n string) string { return "bg_" + n }},
	{"struct ext2_inode", InodeLayout.Fields, func(n string) string {
		switch n {
		case "version":
			return "osd1.linux1.l_i_version"
		case "uid_high", "gid_high", "checksum_lo":
			return "osd2.linux2.l_i_" + n
		case "blocks_high":
			return "osd2.linux2.l_i_blocks_hi"
		case "file_acl_high":
			return "osd2.linux2.l_i_file_acl_high"
		}
		if i, ok := strings.CutPrefix(n, "block"); ok && i != "s" {
			return "i_block[" + i + "]"
		}
		return "i_" + n
	}},
	{"struct ext2_inode_large", InodeLargeLayout.Fields, func(n string) string { return "i_" + n }},
	{"struct ext2_ext_attr_entry", XattrEntryLayout.Fields,
		func(n string) string { return "e_" + n }},
	{"struct ext2_dir_entry_2", DirentLayout.Fields, func(n string) string { return n }},
	{"struct ext2_ext_attr_header", XattrLayout.Fields, func(n string) string { return "h_" + n }},
}

// TestColumnsStandAsInTheHeaders checks that the tables of fields agree with the structures in the
// headers of e2fsprogs.
func TestColumnsStandAsInTheHeaders(t *testing.T) {
	var source strings.Builder
	source.WriteString("#include <stdio.h>\n#include <stddef.h>\n#include <ext2fs/ext2_fs.h>\n" +
		"#include <ext2fs/ext2_ext_attr.h>\nint main(void){\n")
	var want []string
	for _, s := range cStructures {

		for _, c := range s.columns {
			if c.Name == "name" {
				continue // the first byte of a name of any length
			}
			m := s.member(c.Name)
			fmt.Fprintf(&source, "{%s x; printf(\"%s.%s %%zu %%zu\\n\","+
				" (size_t)((char *)&x.%s - (char *)&x), sizeof x.%s);}\n",
				s.name, s.name, m, m, m)
			want = append(want, fmt.Sprintf("%s.%s %d %d", s.name, m, c.Off, max(c.Width(), c.Array)))
		}
	}
	source.WriteString("return 0;}\n")
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "offsets.c"), filepath.Join(dir, "offsets")
	if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("cannot compile against ext2fs/ext2_fs.h (Debian packages gcc, libext2fs-dev): %v\n%s",
			err, out)
	}
	out, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("the header says %q, the table %q", got[min(i, len(got)-1)], want[i])
		}
	}
}

func TestSchemaNamesEveryField(t *testing.T) {
	if got, want := len(schema.Fields), int(fieldWriteTime)+1; got != want {
		t.Errorf("%d names for %d fields", got, want)
	}
	if got, want := len(schema.Kinds), int(KindOrphan)+1; got != want {
		t.Errorf("%d names for %d kinds", got, want)
	}
	got := schema.FieldName(FieldGroup) + schema.FieldName(FieldType) + schema.FieldName(FieldDtime)
	if want := "groupf(mode,s_ifmt)dtime"; got != want {
		t.Errorf("got %q, want %q: names and numbers are out of step", got, want)
	}
	for _, s := range []struct {
		name string
		c    []Field
	}{{"superblock", SuperLayout.Fields}, {"group", GroupLayout.Fields}, {"inode",
		InodeLayout.Fields}} {
		for _, c := range s.c {
			if c.ID != 0 && schema.FieldName(c.ID) != c.Name {
				t.Errorf("%s.%s is called %s in the schema", s.name, c.Name, schema.FieldName(c.ID))
			}
		}
	}
}
