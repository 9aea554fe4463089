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

// A viewed structure has named offsets, and accessors if views is set. A view needs min bytes; an
// empty min stands for the whole structure.
type viewed struct {
	name  string // in Go
	of    *Structure
	views bool
	min   string
}

// viewFiles maps each generated file to the structures in it.
var viewFiles = map[string][]viewed{
	"views_blocks.go": {
		{name: "DiskKey", of: &DiskKeyLayout},
		{name: "Header", of: &HeaderLayout},
		{name: "Item", of: &ItemLayout},
		{name: "KeyPtr", of: &KeyPtrLayout},
		{name: "Super", of: &SuperLayout},
		{name: "RootBackup", of: &RootBackupLayout},
		{name: "DevExtent", of: &DevExtentLayout, views: true},
		{name: "DevItem", of: &DevItemLayout, views: true},
		{name: "Chunk", of: &ChunkLayout, views: true},
		{name: "Stripe", of: &StripeLayout, views: true},
		{name: "DevReplace", of: &DevReplaceLayout, views: true},
	},
	"views_files.go": {
		{name: "InodeItem", of: &InodeItemLayout, views: true},
		{name: "InodeRef", of: &InodeRefLayout, views: true},
		{name: "InodeExtref", of: &InodeExtrefLayout, views: true},
		{name: "DirItem", of: &DirItemLayout, views: true},
		{name: "FileExtent", of: &FileExtentLayout, views: true, min: "InlineStart"},
	},
	"views_extents.go": {
		{name: "ExtentItem", of: &ExtentItemLayout, views: true},
		{name: "ExtentDataRef", of: &ExtentDataRefLayout, views: true},
		{name: "SharedDataRef", of: &SharedDataRefLayout, views: true},
		{name: "TreeBlockInfo", of: &TreeBlockInfoLayout, views: true},
		{name: "ExtentInlineRef", of: &ExtentInlineRefLayout, views: true},
		{name: "BlockGroup", of: &BlockGroupLayout, views: true},
		{name: "FreeSpaceInfo", of: &FreeSpaceInfoLayout, views: true},
		{name: "FreeSpaceHeader", of: &FreeSpaceHeaderLayout, views: true},
	},
	"views_trees.go": {
		{name: "RootItem", of: &RootItemLayout, views: true, min: "LegacyRootItemSize"},
		{name: "RootRef", of: &RootRefLayout, views: true},
		{name: "QgroupStatus", of: &QgroupStatusLayout, views: true},
		{name: "QgroupInfo", of: &QgroupInfoLayout, views: true},
		{name: "VerityDescriptor", of: &VerityDescriptorLayout, views: true},
	},
}

// goNames maps words of C names to their spelling in Go.
var goNames = map[string]string{
	"uid": "UID", "gid": "GID", "uuid": "UUID", "fsid": "FSID", "nlink": "NLink", "nbytes": "NBytes",
	"transid": "TransID", "objectid": "ObjectID", "dirid": "DirID", "devid": "DevID",
	"nritems": "NrItems", "ram": "RAM", "io": "IO", "ctransid": "CTransID", "otransid": "OTransID",
	"rtransid": "RTransID", "stransid": "STransID", "ro": "RO",
}

// getters maps the width of a member to its type in Go and the format of an accessor's body.
var getters = map[int][2]string{
	1:  {"uint8", "v.U8(%s)"},
	2:  {"uint16", "v.U16(%s)"},
	4:  {"uint32", "v.U32(%s)"},
	8:  {"uint64", "v.U64(%s)"},
	16: {"[16]byte", "[16]byte(v.Bytes()[%s:])"},
	17: {"Key", "ReadKey(v.Region, %s)"},
}

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

const generatedHead = "// Code generated from the tables of fields by TestViews -update. " +
	"DO NOT EDIT.\n\npackage ondisk\n\nimport \"fsward/interp/disk\"\n\n"

// viewText writes the offsets and the accessors of a structure.
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
	fmt.Fprintf(b, "// Size of struct %s in bytes, and the offsets of its members.\n", v.of.Name)
	fmt.Fprintf(b, "const (\n%sSize = %d\n\n", v.name, v.of.Size)
	for _, m := range members {
		fmt.Fprintf(b, "%s%sAt = %d\n", v.name, goName(m.Name), m.Off)
	}
	fmt.Fprintf(b, ")\n\n")
	if !v.views {
		return
	}
	article := "A"
	if strings.ContainsRune("AEIOU", rune(v.name[0])) {
		article = "An"
	}
	fmt.Fprintf(b, "// %s %s is a view on a struct %s.\n", article, v.name, v.of.Name)
	fmt.Fprintf(b, "type %s struct{ disk.Region }\n\n", v.name)
	fmt.Fprintf(b, "// View%s returns the view on r, and reports whether r has %s bytes.\n",
		v.name, min)
	fmt.Fprintf(b, "func View%s(r disk.Region) (%s, bool) {\n", v.name, v.name)
	fmt.Fprintf(b, "return %s{r}, r.Len() >= %s\n}\n\n", v.name, min)
	for _, m := range members {
		get := getters[m.Width]
		body := fmt.Sprintf(get[1], v.name+goName(m.Name)+"At")
		line := fmt.Sprintf("func (v %s) %s() %s { return %s }\n", v.name, goName(m.Name), get[0], body)
		if len(line) > 90 {
			line = strings.Replace(strings.Replace(line, "{ return", "{\nreturn", 1), " }\n", "\n}\n", 1)
		}
		b.WriteString(line)
	}
	b.WriteString("\n")
}

// TestViews checks that the generated files match the tables of fields.
func TestViews(t *testing.T) {
	for file, structures := range viewFiles {
		var b strings.Builder
		b.WriteString(generatedHead)
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
			t.Errorf("%s does not match the tables of fields; run go test -run TestViews -update", file)
		}
	}
}
