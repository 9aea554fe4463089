package hostd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// A file system that is judged part by part has the verdict of the one transaction: states of a log, and one of them
// with one field of one object altered, whatever rule speaks of it.
func TestStreamJudgesAsOneTransaction(t *testing.T) {
	t.Parallel()
	base, log := shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"), shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	const few, many = 2, 5 // commits
	s := newStreamTest(t, "btrfs")
	enough := errors.New("enough")
	err := EachTransaction(context.Background(), []ReplayDisk{{Base: base, Log: log}}, detect.Auto, func(tr *Transaction) error {
		switch tr.Commit {
		case few:
			s.alterAll(tr.After.Disks[0])
		case many:
			if !s.same(tr.After.Disks[0]) {
				t.Error("a state was not judged by rules")
			}
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
}

// A streamTest judges states in both ways.
type streamTest struct {
	*testing.T
	fs       string
	rules    *Rules
	violated map[string]int // by rule: states of which both found it
}

func newStreamTest(t *testing.T, fs string) *streamTest {
	t.Helper()
	rules, err := (RulesConfig{Patient: true}).Load()
	if err != nil {
		t.Fatal(err)
	}
	return &streamTest{t, fs, rules, map[string]int{}}
}

// found is a verdict in words: what violates which rule, and what is undecided.
func found(ev *Event) (words, rules []string) {
	for _, v := range ev.Violations {
		words = append(words, fmt.Sprintf("%s %s %s %s", v.Rule, v.Tree, v.ID, v.Source))
		rules = append(rules, v.Rule)
	}
	slices.Sort(words)
	slices.Sort(rules)
	return append(append([]string{ev.Outcome.String()}, words...), ev.Undecided...), slices.Compact(rules)
}

func (s *streamTest) judge(d interp.Disk, stream bool) (*Event, interp.Observation) {
	s.Helper()
	set, err := interp.NewSet(d)
	if err != nil {
		s.Fatal(err)
	}
	fs, obs, err := detect.ImageWith(set, s.fs, interp.ImageOptions{Stream: stream})
	if err != nil {
		return &Event{Outcome: change.Undecided, Undecided: []string{err.Error()}}, obs
	}
	return judge(context.Background(), s.rules, fs, obs, nil), obs
}

// same judges a state in both ways and tells whether rules judged it.
func (s *streamTest) same(d interp.Disk) bool {
	s.Helper()
	held, obs := s.judge(d, false)
	streamed, parts := s.judge(d, true)
	want, rules := found(held)
	got, _ := found(streamed)
	if !slices.Equal(got, want) {
		s.Errorf("as a stream:\n%s\nas one transaction:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	switch {
	case obs.Txn == nil:
		return false
	case parts.Stream == nil || parts.Txn != nil || held.Records != streamed.Records:
		s.Errorf("%d records as a stream, %d as one transaction", streamed.Records, held.Records)
	}
	for _, rule := range rules {
		s.violated[rule]++
	}
	return true
}

// alterAll alters each field and does each action that there is, and judges what comes of it.
func (s *streamTest) alterAll(d blocktap.Disk) {
	s.Helper()
	if !s.same(d) {
		s.Fatal("the structure of the state that is to be altered does not hold")
	}
	corrupter, err := detect.Corrupter(d, s.fs, false)
	if err != nil {
		s.Fatal(err)
	}
	judged := 0
	for _, object := range detect.Alterables(s.fs) {
		if !slices.Contains(object.Actions, "delete") || object.Object == "key_ptr" {
			continue // of blocks, not of items: mostly structure
		}
		specs := []string{object.Object + "!delete", object.Object + "!add"}
		for _, f := range object.Fields {
			specs = append(specs, object.Object+"."+f.Name+"+1")
		}
		for _, spec := range specs {
			c, err := corrupter.Corrupt(spec, 0)
			if errors.Is(err, interp.ErrNoPlace) {
				continue
			}
			if err != nil {
				s.Fatalf("%s: %v", spec, err)
			}
			altered, err := overlay.New(d)
			if err != nil {
				s.Fatal(err)
			}
			for _, p := range c.Patches {
				if _, err := altered.WriteAt(p.Data, int64(p.Off)); err != nil {
					s.Fatal(err)
				}
			}
			if s.same(altered) {
				judged++
				s.Log(spec)
			}
			if s.Failed() {
				s.Fatalf("after %s: %s", spec, c.What)
			}
			if err := altered.Close(); err != nil {
				s.Fatal(err)
			}
		}
	}
	names := slices.Sorted(maps.Keys(s.violated))
	s.Logf("%d altered states were judged by rules, %d rules were violated: %s", judged, len(names), strings.Join(names, " "))
	if judged < 50 || len(names) < 20 {
		s.Error("too little was altered to show anything")
	}
}

// A rule that asks of all changes what only a transaction that is held can answer is undecided and says so; others judge.
func TestStreamNamesWhatItCannotAnswer(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "btrfs"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "violation(101, T, k(D,dir_item,H)) :- add(T, k(D,dir_item,H)), query(T, k(D,dir_item,H), name, N), change(_, k(_,inode_ref,_), name, _, N).\n" +
		"violation(102, 5, k(256,inode_item,0)) :- add(5, k(256,inode_item,0)), count(add(5, k(256,dir_item,_)), N), N >= 0.\n" +
		"violation(103, T, k(I,dir_item,H)) :- add(T, k(I,dir_item,H)), change(_, k(J,inode_item,_), object, null, present), J =:= I + 1.\n"
	if err := os.WriteFile(filepath.Join(dir, "btrfs", "mine.pl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := blocktap.OpenImage(shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := newStreamTest(t, "btrfs")
	if s.rules, err = (RulesConfig{Dir: dir, Patient: true}).Load(); err != nil {
		t.Fatal(err)
	}
	ev, _ := s.judge(d, true)
	if names := ruleNames(ev.Violations); !slices.Contains(names, "btrfs/102") || len(ev.Violations[0].Witness) == 0 {
		t.Errorf("rule 102 found nothing, or without its record: %s", textOf(ev))
	}
	if len(ev.Undecided) == 0 || !strings.Contains(strings.Join(ev.Undecided, "\n"), "cannot be answered of a file system that is too large") {
		t.Errorf("undecided: %v", ev.Undecided)
	}
}
