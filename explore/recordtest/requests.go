package recordtest

import (
	"errors"
	"io"
	"slices"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
)

// Requests returns the requests in a log of writes.
func Requests(t testing.TB, path string) (all []blocktap.Request) {
	t.Helper()
	l, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for {
		e, err := l.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Request(); ok {
			r.Data = slices.Clone(r.Data)
			all = append(all, r)
		}
	}
}
