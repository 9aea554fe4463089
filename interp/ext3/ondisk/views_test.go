package ondisk

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the views from the tables of fields")

// A viewed structure has named offsets, a view on its bytes, and setters for some of its members.
type viewed struct {
	prefix string // of the names of offsets
	view   string // name of the view's type; "": no view
	of     *Structure
	set    []string // the members with a setter
	get    []string // the members with an accessor; nil: all
}

var views = []viewed{
	{"Super", "Super", &SuperLayout, nil, []string{
		"inodes_count", "blocks_count", "free_blocks_count", "free_inodes_count",
		"first_data_block", "log_block_size", "log_cluster_size", "blocks_per_group",
		"clusters_per_group", "inodes_per_group", "mtime", "wtime", "mkfs_time", "magic", "state",
		"rev_level",
		"first_ino", "inode_size", "feature_compat", "feature_incompat", "feature_ro_compat",
		"uuid", "journal_uuid", "journal_inum", "journal_dev", "last_orphan", "hash_seed",
		"first_meta_bg", "flags",
	}},
	{"GroupDesc", "GroupDesc", &GroupLayout, nil, nil},
	{"Inode", "", &InodeLayout, nil, nil},
	{"InodeLarge", "InodeLarge", &InodeLargeLayout, nil, nil},
	{"Dirent", "DirentHead", &DirentLayout,
		[]string{"inode", "rec_len", "name_len", "file_type"}, nil},
	{"IndexHead", "IndexHead", &IndexLayout, []string{"count"}, nil},
	{"IndexEntry", "IndexEntry", &IndexEntryLayout, nil, nil},
	{"XattrHead", "XattrHead", &XattrLayout, nil, nil},
	{"XattrEntry", "XattrEntry", &XattrEntryLayout, nil, nil},
	{"ACLHead", "aclHead", &ACLLayout, nil, nil},
	{"ACLEntry", "aclEntry", &ACLEntryLayout, nil, nil},
	{"JournalHeader", "JournalHeader", &JournalHeaderLayout,
		[]string{"magic", "blocktype", "sequence"}, nil},
	{"JournalSuper", "journalSuperblock", &JournalSuperLayout, []string{"checksum"}, nil},
	{"Tag", "tagHead", &TagLayout, nil, nil},
	{"TagSum", "tagSum", &TagSumLayout, []string{"checksum"}, nil},
	{"Tag64", "tag64", &Tag64Layout, nil, nil},
	{"Tag3", "tag3", &Tag3Layout, []string{"checksum"}, nil},
	{"Commit", "commitBlock", &CommitLayout, []string{"chksum"}, nil},
	{"RevokeHead", "RevokeHead", &RevokeLayout, []string{"count"}, nil},
}

// goNames maps words of C to their spelling in Go.
var goNames = map[string]string{"uid": "UID", "gid": "GID", "uuid": "UUID", "ro": "RO",
	"acl": "ACL", "gdt": "GDT", "bg": "BG", "bgs": "BGs",
	"os": "OS", "id": "ID", "r": "R", "cpu": "CPU"}

// goName returns the name in Go of a member in C.
func goName(member string) string {
	var b strings.Builder
	for w := range strings.SplitSeq(member, "_") {
		if n, ok := goNames[w]; ok {
			b.WriteString(n)
		} else {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

// method writes a method of the view. The body has its own line if the whole does not fit into 100
// columns, also after gofmt has aligned it with the methods beside it.
func (v viewed) method(b *strings.Builder, signature, body string) {
	line := fmt.Sprintf("func (v %s) %s { %s }\n", v.view, signature, body)
	if len(line) > 85 {
		line = fmt.Sprintf("func (v %s) %s {\n%s\n}\n", v.view, signature, body)
	}
	b.WriteString(line)
}

// text writes the offsets and the view of the structure.
func (v viewed) text(b *strings.Builder) {
	byOffset := func(x, y Field) int { return x.Off - y.Off }
	fields := slices.SortedFunc(slices.Values(v.of.Fields), byOffset)
	fmt.Fprintf(b, "// Size of struct %s in bytes, and the offsets of its members.\n"+
		"const (\n%sLen = %d\n\n", v.of.Name, v.prefix, v.of.Size)
	for _, f := range fields {
		fmt.Fprintf(b, "%s%sAt = %d\n", v.prefix, goName(f.Name), f.Off)
	}
	b.WriteString(")\n\n")
	if v.view == "" {
		return
	}
	fmt.Fprintf(b, "// %s is a view on a struct %s.\ntype %s struct{ b *[%sLen]byte }\n\n", v.view,
		v.of.Name, v.view, v.prefix)
	of := v.view + "Of"
	fmt.Fprintf(b, "// %s returns the view on the beginning of b.\n"+
		"// b has at least %sLen bytes.\nfunc %s(b []byte) %s {\nreturn %s{(*[%sLen]byte)(b)}\n}\n\n",
		of, v.prefix, of, v.view, v.view, v.prefix)
	for _, f := range fields {
		name, at := goName(f.Name), v.prefix+goName(f.Name)+"At"
		if f.Off+max(f.Width(), f.Array) > v.of.Size {
			continue // behind the structure
		}
		if v.get != nil && !slices.Contains(v.get, f.Name) {
			continue
		}
		if f.Array > 0 {
			v.method(b, name+"() []byte", fmt.Sprintf("return v.b[%s:%s+%d]", at, at, f.Array))
			continue
		}
		order := map[bool]string{false: "Little", true: "Big"}[f.Big()]
		bits := 8 * f.Width()
		get, set := fmt.Sprintf("return v.b[%s]", at), fmt.Sprintf("v.b[%s] = n", at)
		if bits > 8 {
			get = fmt.Sprintf("return binary.%sEndian.Uint%d(v.b[%s:])", order, bits, at)
			set = fmt.Sprintf("binary.%sEndian.PutUint%d(v.b[%s:], n)", order, bits, at)
		}
		v.method(b, fmt.Sprintf("%s() uint%d", name, bits), get)
		if slices.Contains(v.set, f.Name) {
			v.method(b, fmt.Sprintf("Set%s(n uint%d)", name, bits), set)
		}
	}
	b.WriteString("\n")
}

// TestViews checks that the views agree with the tables of fields. With -update it writes them.
func TestViews(t *testing.T) {
	files := map[string][]viewed{
		"views_super.go":   views[:1],
		"views_files.go":   views[1:11],
		"views_journal.go": views[11:],
	}
	for file, list := range files {
		var b strings.Builder
		b.WriteString("// Code generated from the tables of fields by TestViews -update." +
			" DO NOT EDIT.\n\npackage ondisk\n\nimport \"encoding/binary\"\n\n")
		for _, v := range list {
			v.text(&b)
		}
		want, err := format.Source([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s disagrees with the tables of fields: run go test -run TestViews -update (%v)",
				file, err)
		}
	}
}
