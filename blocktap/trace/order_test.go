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

// together makes logs and records writes to them. The n-th write, from 1, has n sectors and goes to
// the log with the index order[n-1].
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
		r := &blocktap.Request{Op: blocktap.OpWrite, Len: uint64(n) * 512, Data: sectors(n, byte(n))}
		if err := writers[to].Log(r); err != nil {
			t.Fatal(err)
		}
	}
	return mems
}

// merged reads logs to their end and returns the index of the log of each write. The n-th write has
// to have n sectors.
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
			t.Errorf("write %d has %d bytes", len(order), e.Len)
		}
	}
}

// TestMerge checks that Merge returns the entries of several logs in the order of their recording.
func TestMerge(t *testing.T) {
	random := make([]int, 60)
	for i := range random {
		random[i] = rand.IntN(4)
	}
	for _, order := range [][]int{
		{}, {0}, {1}, {0, 0, 1, 1, 0}, {2, 1, 0}, {1, 0, 2, 2, 0, 1, 1}, random,
	} {
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

// TestTurnsAreMarks checks that a log by itself has no marks, and that the turns of several logs
// are ordinary marks, which any reader of the format can skip.
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
	one := fmt.Sprint(texts(together(t, 1, 0, 0)[0]))
	if one != "[0512 01024]" && one != "[512 1024]" {
		t.Errorf("one log: %q", one)
	}
	two := together(t, 2, 0, 0, 1, 0)
	if got := strings.Join(texts(two[0]), ","); got != "fsward turn 10,512,1024,fsward turn 30,2048" {
		t.Errorf("first of two logs: %s", got)
	}
}

// TestMergeErrors checks that Merge detects incomplete logs and logs of different recordings.
func TestMergeErrors(t *testing.T) {
	whole := func() []*memory { return together(t, 3, 0, 1, 2, 1, 0, 2) }
	for _, tc := range []struct {
		name string
		logs []*memory
		want string
	}{
		{"one is missing", whole()[:2], "no log contains turn 3"},
		{
			name: "one is given twice",
			logs: []*memory{whole()[0], whole()[1], whole()[2], whole()[2]},
			want: "belongs to another recording",
		},
		{
			name: "recorded separately",
			logs: []*memory{together(t, 1, 0)[0], together(t, 1, 0)[0]},
			want: "log 1: write log: entry 0 at byte 512: the order of its entries is unknown",
		},
	} {
		if _, err := merged(t, tc.logs); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	truncated := whole()
	truncated[1].b[nrEntriesAt] = 2
	const want = "no log contains turn 4, but one contains turn "
	got, err := merged(t, truncated)
	if len(got) != 3 || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("truncated: %v, %v", got, err)
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
				t.Errorf("Next returned log %d of 2", log)
			}
			entries++
		}
		if entries > (len(a)+len(b))/minSectorSize {
			t.Errorf("%d entries in %d and %d bytes", entries, len(a), len(b))
		}
	})
}
