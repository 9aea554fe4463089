package adapter

import (
	"strings"
	"testing"

	"fsward/repair"
)

// TestKnown parses every description, and looks at exit statuses as the manual pages have them.
func TestKnown(t *testing.T) {
	list, err := Known()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 12 {
		t.Errorf("%d programs", len(list))
	}
	for _, p := range list {
		if f, _, err := Find(p.Name, ""); err != nil || f.Name != p.Name {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for _, c := range []struct {
		program string
		status  int
		output  string
		want    repair.Outcome
	}{
		{"e2fsck", 0, "", repair.Consistent},
		{"e2fsck", 1, "", repair.Corrected},
		{"e2fsck", 3, "", repair.Corrected},
		{"e2fsck", 4, "", repair.Left},
		{"e2fsck", 5, "", repair.Partly},
		{"e2fsck", 12, "", repair.Operational},
		{"e2fsck", 64, "", repair.Unknown},
		{"e2fsck", -1, "", repair.Unknown},
		{"fsck.minix", 3, "", repair.Corrected},
		{"fsck.minix", 7, "", repair.Partly},
		{"fsck.fat", 1, "*** Filesystem was changed ***", repair.Corrected},
		{"fsck.fat", 1, "a.img: 2 files, 3/4 clusters\n", repair.Left},
		{"fsck.fat", 1, "Logical sector size is zero.", repair.Operational},
		{"btrfs", 0, "", repair.Corrected},
	} {
		p, _, err := Find(c.program, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Outcome(&p.Repairs[0], c.status, []byte(c.output)); got != c.want {
			t.Errorf("%s: %d %q is %v, want %v", c.program, c.status, c.output, got, c.want)
		}
	}
}

const least = `program: x
file_systems: [ext2]
repairs: [{name: r, run: [x, "{image}"]}]
statuses: [{is: [0], outcome: consistent}]
`

// TestParseRefuses gives descriptions with one mistake each.
func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte(least)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"program: x", "program: a/b", "slashes"},
		{"program:", "prog:", "not found"},
		{"[ext2]", "[]", "file_systems"},
		{`"{image}"`, `image`, "{image}"},
		{"outcome: consistent", "outcome: fine", "not one of"},
		{"outcome: consistent", "outcome: unknown", "outcome"},
		{"is: [0]", "bits: 0", "needs is"},
		{"name: r,", "name: r, again: check,", "no check"},
		{"name: r,", "name: r, again: twice,", "want check"},
		{"name: r,", "name: r, notes: [[-1, 1]],", "a note is"},
		{"statuses:", "undo: {repair: [x, \"{image}\"], run: [x, \"{image}\"]}\nstatuses:", "{undo}"},
		{"statuses:", "bounds: {time: 1ms}\nstatuses:", "time"},
		{"statuses:", "bounds: {output: 1}\nstatuses:", "output"},
		{"statuses:", "noise: '('\nstatuses:", "missing closing"},
	} {
		_, err := Parse([]byte(strings.Replace(least, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.to, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(least))
	for _, name := range []string{"e2fsck", "btrfs"} {
		if _, text, err := Find(name, ""); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		for i := range p.Repairs {
			p.Outcome(&p.Repairs[i], 1, text)
			p.Repairs[i].Argv("disk.img", "undo")
		}
	})
}

// The version is the first line with a number of one: some programs print how they are used first.
func TestVersionText(t *testing.T) {
	for script, want := range map[string]string{"echo 'Usage: x'; echo 'x 1.2'": "x 1.2",
		"echo x; echo y": "x", "exit 3": "exit status 3"} {
		p := &Program{Version: []string{"sh", "-c", script}}
		if got := p.VersionText(t.Context()); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
