package matrix

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestParts checks that the parts of a file system's corruptions are all of them, each once.
func TestParts(t *testing.T) {
	for _, fs := range Formats() {
		f, err := findFormat(fs)
		if err != nil {
			t.Fatal(err)
		}
		n, err := Count(fs)
		if err != nil || n < 1000 {
			t.Fatalf("%s has %d corruptions, %v", fs, n, err)
		}
		specs := func(cells []Cell) (out []string) {
			for _, c := range cells {
				c.format = f
				out = append(out, c.Spec())
			}
			return out
		}
		var joined []string
		for first := 0; first < n; first += 1000 {
			p := Part{first, first + 999}
			joined = append(joined, specs(p.of(f.allCells()))...)
		}
		all := specs((*Part)(nil).of(f.allCells()))
		if !slices.Equal(joined, all) {
			t.Errorf("%s: %d corruptions in parts, %d in all", fs, len(joined), len(all))
		}
		if rest := (&Part{n, n + 5}).of(f.allCells()); len(rest) != 0 {
			t.Errorf("%s: %d corruptions behind the last one", fs, len(rest))
		}
	}
}

// TestParsePart checks which parts are accepted.
func TestParsePart(t *testing.T) {
	for text, ok := range map[string]bool{"0-511": true, "7-7": true, "7": false, "-1-3": false,
		"3-2": false, "a-b": false, "1-": false, "": false} {
		if p, err := ParsePart(text); (err == nil) != ok {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// TestMisses checks that only what is missed is reported, each with a file.
func TestMisses(t *testing.T) {
	f, err := findFormat("ext3")
	if err != nil {
		t.Fatal(err)
	}
	cell := f.allCells()[0]
	cell.format = f
	row := func(fsward, check string) *Row {
		return &Row{Cell: &cell, Fsward: Fsward{Verdict: fsward}, Check: Peer{Verdict: check}}
	}
	dir := t.TempDir()
	rows := []*Row{row("holds", "ok"), row("violated", "reports"), row("holds", "reports")}
	misses, err := Misses(rows, dir)
	if err != nil || len(misses) != 1 {
		t.Fatalf("%+v, %v", misses, err)
	}
	if text, err := os.ReadFile(filepath.Join(misses[0].Dir, "cell.json")); err != nil ||
		len(text) == 0 {
		t.Errorf("the file of a miss: %q, %v", text, err)
	}
}
