package ondisk

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the accessors from the tables of fields")

// A viewed structure has named offsets, and accessors where views is set. A view needs min bytes, 0
// standing for all of them.
type viewed struct {
	name  string // in Go
	of    *Structure
	views bool
	min   string
}

// viewFiles are the generated files and the structures in each.
var viewFiles = map[string][]viewed{
	"views_blocks.go": {
		{name: "DiskKey", of: &DiskKeyLayout}, {name: "Header", of: &HeaderLayout}, {name: "Item", of: &ItemLayout},
		{name: "KeyPtr", of: &KeyPtrLayout}, {name: "Super", of: &SuperLayout}, {name: "RootBackup", of: &RootBackupLayout},
		{name: "DevExtent", of: &DevExtentLayout, views: true}, {name: "DevItem", of: &DevItemLayout, views: true},
		{name: "Chunk", of: &ChunkLayout, views: true}, {name: "Stripe", of: &StripeLayout, views: true},
		{name: "DevReplace", of: &DevReplaceLayout, views: true},
	},
	"views_files.go": {
		{name: "InodeItem", of: &InodeItemLayout, views: true}, {name: "InodeRef", of: &InodeRefLayout, views: true},
		{name: "InodeExtref", of: &InodeExtrefLayout, views: true}, {name: "DirItem", of: &DirItemLayout, views: true},
		{name: "FileExtent", of: &FileExtentLayout, views: true, min: "InlineStart"},
	},
	"views_extents.go": {
		{name: "ExtentItem", of: &ExtentItemLayout, views: true}, {name: "ExtentDataRef", of: &ExtentDataRefLayout, views: true},
		{name: "SharedDataRef", of: &SharedDataRefLayout, views: true}, {name: "TreeBlockInfo", of: &TreeBlockInfoLayout, views: true},
		{name: "ExtentInlineRef", of: &ExtentInlineRefLayout, views: true}, {name: "BlockGroup", of: &BlockGroupLayout, views: true},
		{name: "FreeSpaceInfo", of: &FreeSpaceInfoLayout, views: true}, {name: "FreeSpaceHeader", of: &FreeSpaceHeaderLayout, views: true},
	},
	"views_trees.go": {
		{name: "RootItem", of: &RootItemLayout, views: true, min: "LegacyRootItemSize"}, {name: "RootRef", of: &RootRefLayout, views: true},
		{name: "QgroupStatus", of: &QgroupStatusLayout, views: true}, {name: "QgroupInfo", of: &QgroupInfoLayout, views: true},
		{name: "VerityDescriptor", of: &VerityDescriptorLayout, views: true},
	},
}

// goNames has the words of C that Go writes in another way.
var goNames = map[string]string{"uid": "UID", "gid": "GID", "uuid": "UUID", "fsid": "FSID", "nlink": "NLink", "nbytes": "NBytes",
	"transid": "TransID", "objectid": "ObjectID", "dirid": "DirID", "devid": "DevID", "nritems": "NrItems", "ram": "RAM", "io": "IO",
	"ctransid": "CTransID", "otransid": "OTransID", "rtransid": "RTransID", "stransid": "STransID", "ro": "RO"}

func goName(member string) string {
	var b strings.Builder
	for _, w := range strings.Split(member, "_") {
		if n, ok := goNames[w]; ok {
			b.WriteString(n)
		} else {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}

// viewText writes the accessors of a structure.
func viewText(b *strings.Builder, v viewed) {
	min := fmt.Sprintf("%sSize", v.name)
	if v.min != "" {
		min = v.min
	}
	var members []Member
	for _, m := range append(v.of.Fields[:len(v.of.Fields):len(v.of.Fields)], v.of.Unrecorded...) {
		if !strings.Contains(m.Name, ".") {
			members = append(members, m)
		}
	}
	fmt.Fprintf(b, "// Size of struct %s in bytes, and the offsets of its members.\nconst (\n%sSize = %d\n\n", v.of.Name, v.name, v.of.Size)
	for _, m := range members {
		fmt.Fprintf(b, "%s%sAt = %d\n", v.name, goName(m.Name), m.Off)
	}
	fmt.Fprintf(b, ")\n\n")
	if !v.views {
		return
	}
	fmt.Fprintf(b, "// A %s is a view on a struct %s.\ntype %s struct{ disk.Region }\n\n", v.name, v.of.Name, v.name)
	fmt.Fprintf(b, "// View%s returns the view on r, and reports whether r has the %s bytes that it needs.\n", v.name, min)
	fmt.Fprintf(b, "func View%s(r disk.Region) (%s, bool) { return %s{r}, r.Len() >= %s }\n\n", v.name, v.name, v.name, min)
	for _, m := range members {
		get := map[int][2]string{1: {"uint8", "v.U8(%s)"}, 2: {"uint16", "v.U16(%s)"}, 4: {"uint32", "v.U32(%s)"}, 8: {"uint64", "v.U64(%s)"},
			16: {"[16]byte", "[16]byte(v.Bytes()[%s:])"}, 17: {"Key", "ReadKey(v.Region, %s)"}}[m.Width]
		at := v.name + goName(m.Name) + "At"
		fmt.Fprintf(b, "func (v %s) %s() %s { return %s }\n", v.name, goName(m.Name), get[0], fmt.Sprintf(get[1], at))
	}
	b.WriteString("\n")
}

// The named offsets and the accessors are those that the tables of fields give.
func TestViews(t *testing.T) {
	for file, structures := range viewFiles {
		var b strings.Builder
		b.WriteString("// Code generated from the tables of fields by TestViews -update. DO NOT EDIT.\n\npackage ondisk\n\nimport \"fsward/interp/disk\"\n\n")
		for _, v := range structures {
			viewText(&b, v)
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
			t.Errorf("%s is not what the tables of fields give: go test -run TestViews -update", file)
		}
	}
}
