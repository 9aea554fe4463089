package agent

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestContentsOfLinks checks that the contents of a file with several names are read once, and that
// those of another file are not taken for them.
func TestContentsOfLinks(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "file"), filepath.Join(dir, "other")
	for path, text := range map[string]string{file: "some", other: "else"} {
		err := os.WriteFile(path, []byte(text), 0o600)
		if err == nil {
			err = os.Link(path, path+"-link")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := newContentReader()
	describe := func(path string, st *unix.Stat_t) Entry {
		e := entryOf(path, st)
		r.describe(&e, path)
		return e
	}
	var st, another unix.Stat_t
	if err := unix.Lstat(file, &st); err != nil {
		t.Fatal(err)
	}
	if err := unix.Lstat(other, &another); err != nil {
		t.Fatal(err)
	}
	want := sha256.Sum256([]byte("some"))
	if e := describe(file, &st); e.Errno != 0 || e.Sum != want {
		t.Errorf("the first name: %+v", e)
	}
	// This path does not exist: who reads it gets an error.
	if e := describe(file+"-gone", &st); e.Errno != 0 || e.Sum != want {
		t.Errorf("the second name was read again: %+v", e)
	}
	if e := describe(other, &another); e.Errno != 0 || e.Sum != sha256.Sum256([]byte("else")) {
		t.Errorf("another file: %+v", e)
	}
	st.Size++
	if e := describe(file+"-gone", &st); e.Errno != unix.ENOENT {
		t.Errorf("an inode that lstat describes otherwise was taken for the first: %+v", e)
	}
}
