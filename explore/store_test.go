package explore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Changes are seen at once, and committed together if the disk is slow. After an error of a change
// nothing of it is left.
func TestStoreCommits(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	// waiting returns the number of steps of the first state, as a run sees it that continues now.
	waiting := func() int {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, storeName))
		if err != nil {
			t.Fatal(err)
		}
		copied := t.TempDir()
		if err := os.WriteFile(filepath.Join(copied, storeName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		killed, err := openStore(copied)
		if err != nil {
			t.Fatal(err)
		}
		defer killed.close()
		return firstSteps(t, killed)
	}
	put := func(steps int, fail error) error {
		return s.update(func(c *change) error {
			st := &state{Steps: make([][]Choice, steps)}
			return errors.Join(c.enqueue(uint64(9-steps), st), fail)
		})
	}
	if err := put(1, nil); err != nil || firstSteps(t, s) != 1 || waiting() != 1 {
		t.Errorf("the first change: %v, %d, %d on the disk", err, firstSteps(t, s), waiting())
	}
	s.pause = time.Hour // as after a commit that took three minutes
	if err := put(2, nil); err != nil || firstSteps(t, s) != 2 || waiting() != 1 {
		t.Errorf("a slow disk: %v, %d, %d on the disk", err, firstSteps(t, s), waiting())
	}
	if err := s.commit(); err != nil || waiting() != 2 || s.pause > commitPause {
		t.Errorf("commit: %v, %d on the disk, the next after %v", err, waiting(), s.pause)
	}
	failed := errors.New("failed")
	if err := put(3, failed); !errors.Is(err, failed) || firstSteps(t, s) != 2 {
		t.Errorf("a failed change: %v, %d", err, firstSteps(t, s))
	}
	s.pause = time.Hour
	if err := errors.Join(put(4, nil), s.close()); err != nil || waiting() != 4 {
		t.Errorf("closed: %v, %d on the disk", err, waiting())
	}
}

func firstSteps(t *testing.T, s *store) int {
	t.Helper()
	_, st, err := s.first()
	if err != nil {
		t.Fatal(err)
	}
	return len(st.Steps)
}

// The errors of a run come in the order in which it found them.
func TestOrderOfErrors(t *testing.T) {
	s, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	want := []string{"001-a", "101-a", "999-a", "1000-a", "1001-a"}
	for _, dir := range want {
		if err := s.update(func(c *change) error { return c.saveError(&Error{Dir: dir}) }); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.errors()
	var got []string
	for _, e := range list {
		got = append(got, e.Dir)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
