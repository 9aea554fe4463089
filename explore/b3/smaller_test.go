package b3

import (
	"errors"
	"strings"
	"testing"
)

// Smaller workloads leave out one operation or one persistence point, and keep one.
func TestSmaller(t *testing.T) {
	w, err := Parse("creat foo; fsync foo; link foo bar; unlink foo; sync")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := range w.Smaller() {
		got = append(got, s.String())
	}
	want := []string{
		"link foo bar; unlink foo; sync",
		"creat foo; fsync foo; unlink foo; sync",
		"creat foo; fsync foo; link foo bar; sync",
		"creat foo; link foo bar; unlink foo; sync",
		"creat foo; fsync foo; link foo bar; unlink foo",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The smaller workloads of a large one are made one by one: all of them have 300 million steps.
func TestSmallerOfMany(t *testing.T) {
	w, err := Parse("repeat 16383 creat f%d; sync")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for small := range w.Smaller() {
		if len(small) != len(w)-1 || n < len(small) && small[n] != w[n+1] {
			t.Fatalf("workload %d has %d steps, or lacks another one", n, len(small))
		}
		if n++; n == 100 {
			break
		}
	}
	if n < 100 {
		t.Errorf("%d smaller workloads", n)
	}
}

// A workload of a thousand names becomes a small one after a few trials, and keeps what it needs.
func TestSmallest(t *testing.T) {
	w, err := Parse("creat foo; repeat 1000 link foo l%d; sync; unlink l7; fsync foo")
	if err != nil {
		t.Fatal(err)
	}
	trials := 0
	small, err := w.Smallest(func(w Workload) (bool, error) {
		trials++
		text := w.String()
		return strings.Contains(text, "link foo l7;") && strings.Contains(text, "unlink l7"), nil
	})
	if want := "link foo l7; unlink l7; fsync foo"; small.String() != want || err != nil {
		t.Errorf("%s, %v, want %s", small, err, want)
	}
	if trials > 100 {
		t.Errorf("%d trials", trials)
	}
}

// If a trial fails, the smallest workload so far stays.
func TestSmallestFails(t *testing.T) {
	w, err := Parse("creat foo; fsync foo; link foo bar; unlink foo; sync")
	if err != nil {
		t.Fatal(err)
	}
	late, trials := errors.New("the time is up"), 0
	small, err := w.Smallest(func(Workload) (bool, error) {
		if trials++; trials > 1 {
			return false, late
		}
		return true, nil
	})
	if want := "link foo bar; unlink foo; sync"; small.String() != want || !errors.Is(err, late) {
		t.Errorf("%s, %v, want %s", small, err, want)
	}
}
