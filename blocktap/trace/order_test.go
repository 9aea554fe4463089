package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"fsward/blocktap"
)

// together makes logs and records writes to them: the n-th, of n sectors from 1 on, to the log that is named n-th.
func together(t testing.TB, logs int, order ...int) []*memory {
	t.Helper()
	var mems []*memory
	var writers []*Writer
	for range logs {
		m := &memory{}
		mems, writers = append(mems, m), append(writers, record(t, m))
	}
	Together(writers...)
	for n, to := range order {
		n++
		if err := writers[to].Log(&blocktap.Request{Op: blocktap.OpWrite, Len: uint64(n) * 512, Data: sectors(n, byte(n))}); err != nil {
			t.Fatal(err)
		}
	}
	return mems
}

// merged reads logs to their end and returns whose each write was. The n-th has to be of n sectors.
func merged(t testing.TB, mems []*memory) (order []int, err error) {
	t.Helper()
	var readers []*Reader
	for _, m := range mems {
		r, err := NewReader(bytes.NewReader(m.b))
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, r)
	}
	m, err := Merge(readers...)
	if err != nil {
		return nil, err
	}
	for {
		log, e, err := m.Next()
		if errors.Is(err, io.EOF) {
			return order, nil
		}
		if err != nil {
			return order, err
		}
		if _, ok := e.Request(); !ok {
			continue
		}
		order = append(order, log)
		if e.Len != uint64(len(order))*512 {
			t.Errorf("entry %d is of %d bytes", len(order), e.Len)
		}
	}
}

// The logs of several disks are read in the order in which they were written.
func TestMerge(t *testing.T) {
	random := make([]int, 60)
	for i := range random {
		random[i] = rand.IntN(4)
	}
	for _, order := range [][]int{{}, {0}, {1}, {0, 0, 1, 1, 0}, {2, 1, 0}, {1, 0, 2, 2, 0, 1, 1}, random} {
		for logs := 1; logs <= 4; logs++ {
			var want []int
			for _, n := range order {
				want = append(want, n%logs)
			}
			got, err := merged(t, together(t, logs, want...))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
}

// A log that is alone is as it ever was, and what is marked in several can be read by whoever knows nothing of it.
func TestTurnsAreMarks(t *testing.T) {
	texts := func(m *memory) (out []string) {
		r, err := NewReader(bytes.NewReader(m.b))
		if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := r.Next()
			if err != nil {
				return out
			}
			out = append(out, fmt.Sprint(e.Mark, e.Len))
		}
	}
	if got := texts(together(t, 1, 0, 0)[0]); fmt.Sprint(got) != "[0512 01024]" && fmt.Sprint(got) != "[512 1024]" {
		t.Errorf("alone: %q", got)
	}
	two := together(t, 2, 0, 0, 1, 0)
	if got := strings.Join(texts(two[0]), ","); got != "fsward turn 10,512,1024,fsward turn 30,2048" {
		t.Errorf("of two: %s", got)
	}
}

// Logs that are not whole, or not of one recording, are told from those that are.
func TestMergeErrors(t *testing.T) {
	whole := func() []*memory { return together(t, 3, 0, 1, 2, 1, 0, 2) }
	for _, tc := range []struct {
		name string
		logs []*memory
		want string
	}{
		{"one is missing", whole()[:2], "turn 3 is in none of them"},
		{"one is given twice", []*memory{whole()[0], whole()[1], whole()[2], whole()[2]}, "of the same recording"},
		{"of others", []*memory{together(t, 1, 0)[0], together(t, 1, 0)[0]}, "log 1: write log: entry 0 at byte 512: nothing says when it was written"},
	} {
		if _, err := merged(t, tc.logs); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	// A log that has lost its end.
	cut := whole()
	cut[1].b[nrEntriesAt] = 2
	if got, err := merged(t, cut); len(got) != 3 || err == nil || !strings.Contains(err.Error(), "turn 4 is in none of them, and turn ") {
		t.Errorf("cut off: %v, %v", got, err)
	}
}

func FuzzMerge(f *testing.F) {
	two := together(f, 2, 0, 1, 1, 0)
	f.Add(two[0].b, two[1].b)
	f.Add(two[0].b, two[0].b)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, err1 := NewReader(bytes.NewReader(a))
		second, err2 := NewReader(bytes.NewReader(b))
		if err1 != nil || err2 != nil {
			return
		}
		m, err := Merge(first, second)
		entries := 0
		for err == nil {
			var log int
			if log, _, err = m.Next(); log != 0 && log != 1 {
				t.Errorf("log %d", log)
			}
			entries++
		}
		if entries > (len(a)+len(b))/minSectorSize {
			t.Errorf("%d entries in %d and %d bytes", entries, len(a), len(b))
		}
	})
}
