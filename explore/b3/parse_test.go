package b3

import (
	"errors"
	"slices"
	"testing"
)

// The text of a workload is what Parse reads.
func TestParse(t *testing.T) {
	const text = `mkdir A; creat A/foo; falloc A/foo punch|keep extend; write A/foo 0 5000;
		link A/foo bar # a comment; sync
		symlink ../x B/l; truncate bar 2500; fsync /; drop_caches; mmapstore bar block; msync bar 0 65536
		chmod bar 0755; setxattr bar; setxattr bar a; removexattr bar a; clone bar 0 8192 baz 4096
		sync_file_range bar block; orphan bar; repeat 2 setxattr bar a%d
		exchange A/foo B`
	const want = "mkdir A; creat A/foo; falloc A/foo punch|keep extend; write A/foo 0 5000; " +
		"link A/foo bar; symlink ../x B/l; truncate bar 2500; fsync /; drop_caches; " +
		"mmapstore bar block; msync bar 0 65536; chmod bar 755; setxattr bar; setxattr bar a; " +
		"removexattr bar a; clone bar 0 8192 baz 4096; sync_file_range bar block; orphan bar; " +
		"setxattr bar a0; setxattr bar a1; exchange A/foo B"
	w, err := Parse(text)
	if err != nil || w.String() != want {
		t.Fatalf("%s, %v", w, err)
	}
	if got := w.Points(); !slices.Equal(got, []int{7, 10}) {
		t.Errorf("persistence points %v", got)
	}
}

// An error has its place, and says what was expected.
func TestSyntaxErrors(t *testing.T) {
	const (
		path  = "a path such as A/foo, from the root of the file system"
		large = ", at most 1099511627776"
	)
	for _, wrong := range []struct{ text, at, got, want string }{
		{"creat", "1, column 6", "the end of the step", path},
		{"sync;\n  creat /", "2, column 9", `"/"`, path},
		{"creat ä; creat a/../b", "1, column 16", `"a/../b"`, path},
		{"write foo all", "1, column 11", `"all"`, "a range, one of append, start, extend, end, " +
			"block, last, or an offset and a length in bytes"},
		{"write foo 12", "1, column 13", "the end of the step", "a length in bytes" + large},
		{"falloc foo punch 0 1", "1, column 12", `"punch"`,
			"a mode, one of allocate, allocate|keep, zero, zero|keep, punch|keep, " +
				"collapse, insert"},
		{"chattr foo +C", "1, column 12", `"+C"`, "= and letters of chattr(1), some of SdAcC"},
		{"chattr foo =x", "1, column 12", `"=x"`, "= and letters of chattr(1), some of SdAcC"},
		{"chmod foo 999", "1, column 11", `"999"`, "permissions, an octal number up to 777"},
		{"chmod foo 1755", "1, column 11", `"1755"`, "permissions, an octal number up to 777"},
		{"clone foo 0 1 bar", "1, column 18", "the end of the step", "an offset in bytes" + large},
		{"clone foo 0 1", "1, column 14", "the end of the step", path},
		{"setxattr foo a b", "1, column 16", `"b"`, "a semicolon or the end of the line after " +
			"setxattr foo a"},
		{"orphan /", "1, column 8", `"/"`, path},
		{"repeat 6 orphan f%d; close f2; orphan a;\n\twrite b append; orphan b", "2, column 18",
			`"orphan b"`, "a close of another open file without a name: 6 are open"},
		{"repeat 7 orphan f%d", "1, column 1", `"orphan f6"`,
			"a close of another open file without a name: 6 are open"},
		{"truncate foo -1", "1, column 14", `"-1"`, "a size in bytes" + large},
		{"sync foo", "1, column 6", `"foo"`, "a semicolon or the end of the line after sync"},
		{"write foo 0 99999999999999999", "1, column 13", `"99999999999999999"`,
			"a length in bytes" + large},
	} {
		_, err := Parse(wrong.text)
		var syntax *SyntaxError
		want := "line " + wrong.at + ": " + wrong.got + ", expected " + wrong.want
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", wrong.text, err, want)
		}
	}
	var syntax *SyntaxError
	if _, err := Parse("creat a; jump b"); !errors.As(err, &syntax) || syntax.Column != 10 {
		t.Errorf("an unknown operation: %v", err)
	}
}

// Whatever Parse reads, it reads the same from the text of the result; and Complete changes nothing
// that is complete.
func FuzzParse(f *testing.F) {
	f.Add("mkdir A; creat A/foo; fsync A/foo")
	f.Add("rename A A/C; rename A/C A; rmdir A; link foo foo; rename foo A")
	f.Add("falloc foo zero|keep end; removexattr foo\nsymlink x y # z")
	f.Add("exchange foo A/bar; creat A; exchange A B; exchange B B/C; rename B foo; exchange l l")
	f.Add("orphan foo; clone foo end bar 0; creat foo; chmod foo 7; removexattr foo a")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(w.String())
		if err != nil || !slices.Equal(again, w) {
			t.Fatalf("%s: %s, %v", w, again, err)
		}
		if len(w) > 200 {
			return // Complete takes time in proportion to the square of the names
		}
		done := w.Complete()
		if _, err := Parse(done.String()); err != nil {
			t.Fatalf("%s: %v", done, err)
		}
	})
}
