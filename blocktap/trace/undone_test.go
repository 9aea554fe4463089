package trace

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/blocktap"
)

// TestReadUndone reads the marks of a log, and refuses marks that are not in order.
func TestReadUndone(t *testing.T) {
	for _, c := range []struct {
		name  string
		marks []string // each follows two writes
		bad   string
		want  []uint64 // entries that were not performed
	}{
		{"none", []string{"", "other"}, "", nil},
		{"one", []string{UndoneMark(0, 1)}, "", []uint64{0}},
		{"two", []string{UndoneMark(0, 2), UndoneMark(4, 5)}, "", []uint64{0, 1, 4}},
		{"empty", []string{UndoneMark(1, 1)}, "", nil},
		{"no numbers", []string{"fsward undone x"}, "invalid", nil},
		{"later", []string{UndoneMark(1, 4)}, "entry 2", nil},
		{"reversed", []string{UndoneMark(1, 0)}, "entry 2", nil},
		{"twice", []string{UndoneMark(0, 2), UndoneMark(1, 4)}, "entry 5", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			w, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range c.marks {
				for range 2 {
					r := blocktap.Request{Op: blocktap.OpWrite, Len: 512, Data: make([]byte, 512)}
					err = errors.Join(err, w.Log(&r))
				}
				err = errors.Join(err, w.Mark(m))
			}
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			undone, n, err := ReadUndone(path)
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Fatalf("got %v, want %q", err, c.bad)
				}
				return
			}
			var got []uint64
			for i := range n {
				if undone.Has(i) {
					got = append(got, i)
				}
			}
			if err != nil || n != 3*uint64(len(c.marks)) || !slices.Equal(got, c.want) {
				t.Errorf("%v of %d, %v", got, n, err)
			}
		})
	}
}
