package guard_test

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
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp"
	"fsward/interp/detect"
)

// TestStreamJudgesAsOneTransaction checks that a file system checked part by part has the verdict
// of the single transaction: for the states of a log, and for one of them with one field of one
// object altered, for every object that rules use.
func TestStreamJudgesAsOneTransaction(t *testing.T) {
	t.Parallel()
	base, log := capturedBase(t, "btrfs-single-4k"), capturedLog(t, "btrfs-single-4k")
	const few, many = 1, 5 // commits
	s := newStreamTest(t, "btrfs")
	enough := errors.New("enough")
	err := offline.EachTransaction(context.Background(), []offline.ReplayDisk{{Base: base, Log: log}},
		detect.Auto, func(tr *offline.Transaction) error {
			switch tr.Commit {
			case few:
				s.alterAll(tr.Disks.Disks[0], 20)
			case many:
				if !s.same(tr.Disks.Disks[0]) {
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

// TestStreamJudgesExt3AsOneTransaction does the same for ext3, with small blocks and all kinds of
// files.
func TestStreamJudgesExt3AsOneTransaction(t *testing.T) {
	t.Parallel()
	src := t.TempDir()
	guardtest.Run(t, "sh", "-ec", `cd `+src+`; mkdir -p a/b/c many
		for i in $(seq 60); do echo $i >many/a-long-name-of-a-file-$i; done
		head -c 300000 /dev/zero >large; ln large a/link; ln -s short fast
		ln -s $(printf %0100d 0) slow; mkfifo a/pipe; cp large a/b/c/other
		for f in large a many/a-long-name-of-a-file-7; do
			setfattr -n user.note -v $(printf %0200d 0) $f
		done`)
	d, err := blocktap.OpenImage(guardtest.Mkfs(t, "ext3", 4<<20, "-b", "1024", "-I", "128", "-N",
		"128", "-J", "size=1", "-d", src))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	newStreamTest(t, "ext3").alterAll(d, 15)
}

// A streamTest checks states in both ways.
type streamTest struct {
	*testing.T
	fs       string
	rules    *guard.Rules
	passes   int            // largest number of passes
	violated map[string]int // by rule: states in which both ways found it
}

func newStreamTest(t *testing.T, fs string) *streamTest {
	t.Helper()
	rules, err := (guard.RulesConfig{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	return &streamTest{t, fs, rules, 0, map[string]int{}}
}

// countedStream counts the passes over a stream.
type countedStream struct {
	change.Stream
	passes int
}

func (s *countedStream) Each(visit func(*change.Txn) error) error {
	s.passes++
	return s.Stream.Each(visit)
}

// found returns a verdict as words: which rule is violated where, and what is undecided.
func found(ev *guard.Event) (words, rules []string) {
	for _, v := range ev.Violations {
		words = append(words, fmt.Sprintf("%s %s %s %s", v.Rule, v.Tree, v.ID, v.Source))
		rules = append(rules, v.Rule)
	}
	slices.Sort(words)
	slices.Sort(rules)
	return append(append([]string{ev.Outcome.String()}, words...), ev.Undecided...),
		slices.Compact(rules)
}

func (s *streamTest) judge(d interp.Disk, stream bool) (*guard.Event, interp.Observation) {
	s.Helper()
	set, err := interp.NewSet(d)
	if err != nil {
		s.Fatal(err)
	}
	fs, obs, err := detect.ImageWith(set, s.fs, interp.ImageOptions{Stream: stream})
	if err != nil {
		return &guard.Event{Outcome: change.Undecided, Undecided: []string{err.Error()}}, obs
	}
	if obs.Stream == nil {
		return guard.CheckImage(context.Background(), s.rules, fs, obs, 0, nil), obs
	}
	counted := &countedStream{Stream: obs.Stream}
	obs.Stream = counted
	ev := guard.CheckImage(context.Background(), s.rules, fs, obs, 0, nil)
	s.passes = max(s.passes, counted.passes)
	return ev, obs
}

// same checks a state in both ways and reports whether rules checked it.
func (s *streamTest) same(d interp.Disk) bool {
	s.Helper()
	held, obs := s.judge(d, false)
	streamed, parts := s.judge(d, true)
	return sameVerdict(s.T, s.violated, held, streamed, obs, parts)
}

// sameVerdict compares the verdict on one transaction with that on its stream, and reports whether
// rules judged them. It counts the violations of each rule.
func sameVerdict(t *testing.T, violated map[string]int, held, streamed *guard.Event,
	obs, parts interp.Observation) bool {
	t.Helper()
	want, rules := found(held)
	got, _ := found(streamed)
	if !slices.Equal(got, want) {
		t.Errorf("as a stream:\n%s\nas one transaction:\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	switch {
	case obs.Txn == nil:
		return false
	case parts.Stream == nil || parts.Txn != nil || held.Records != streamed.Records:
		t.Errorf("%d records as a stream, %d as one transaction", streamed.Records, held.Records)
	}
	for _, rule := range rules {
		violated[rule]++
	}
	return true
}

// A streamSpec is a way to alter a state.
type streamSpec struct {
	text string
	pick int
}

// specs returns the ways to alter an object that rules may use.
func (s *streamTest) specs(object interp.Alterable) (specs []streamSpec) {
	if s.fs == "btrfs" {
		if !slices.Contains(object.Actions, "delete") || object.Object == "key_ptr" {
			return nil // of blocks, not of items: mostly structure
		}
		specs = append(specs, streamSpec{object.Object + "!delete", 0},
			streamSpec{object.Object + "!add", 0})
		for _, f := range object.Fields {
			specs = append(specs, streamSpec{object.Object + "." + f.Name + "+1", 0})
		}
		return specs
	}
	for _, pick := range []int{0, 12} {
		for _, action := range object.Actions {
			specs = append(specs, streamSpec{object.Object + "!" + action, pick})
		}
		for _, f := range object.Fields {
			if slices.Contains(detect.Schema(s.fs).Fields, f.Name) || f.Name == "block" {
				specs = append(specs, streamSpec{object.Object + "." + f.Name + "+1", pick})
			}
		}
	}
	return specs
}

// alterAll alters each field, runs each action, and checks the results. At least least rules must
// be violated.
func (s *streamTest) alterAll(d blocktap.Disk, least int) {
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
		for _, spec := range s.specs(object) {
			c, err := corrupter.Corrupt(spec.text, spec.pick)
			if errors.Is(err, interp.ErrNoPlace) {
				continue
			}
			if err != nil {
				s.Fatalf("%s: %v", spec.text, err)
			}
			altered := s.altered(d, c)
			if s.same(altered) {
				judged++
				s.Log(spec.text)
			}
			if s.Failed() {
				s.Fatalf("after %s: %s", spec.text, c.What)
			}
			if err := altered.Close(); err != nil {
				s.Fatal(err)
			}
		}
	}
	names := slices.Sorted(maps.Keys(s.violated))
	s.Logf("%d altered states were judged by rules, %d rules were violated: %s", judged, len(names),
		strings.Join(names, " "))
	if judged < 50 || len(names) < least {
		s.Error("too little was altered to show anything")
	}
}

// altered returns a disk with a change.
func (s *streamTest) altered(d blocktap.Disk, c interp.Corruption) *overlay.Disk {
	s.Helper()
	altered, err := overlay.New(d)
	if err != nil {
		s.Fatal(err)
	}
	for _, p := range c.Patches {
		if _, err := altered.WriteAt(p.Data, int64(p.Off)); err != nil {
			s.Fatal(err)
		}
	}
	return altered
}

// TestStreamInShares checks that the verdict is the same with so little memory that sums over all
// files are computed in parts.
func TestStreamInShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fs, wrong, rule string
		memory          uint64
		picks           []int
	}{{"btrfs", "extent_item.refs+1", "btrfs/9", 128 << 10, []int{0, 300}}, {"ext3",
		"inode.links_count+1", "ext3/7", 64 << 10, []int{500, 900}}} {
		d, err := blocktap.OpenImage(populated(t, c.fs, 128<<20, 4, 400))
		if err != nil {
			t.Fatal(err)
		}
		s := newStreamTest(t, c.fs)
		if s.rules, err = (guard.RulesConfig{Memory: c.memory}).Load(); err != nil {
			t.Fatal(err)
		}
		s.same(d)
		corrupter, err := detect.Corrupter(d, c.fs, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, pick := range c.picks {
			what, err := corrupter.Corrupt(c.wrong, pick)
			if err != nil {
				t.Fatal(err)
			}
			altered := s.altered(d, what)
			s.same(altered)
			_ = altered.Close()
		}
		if s.passes <= 2 || s.violated[c.rule] != 2 {
			t.Errorf("%s: %d passes, violated: %v", c.fs, s.passes, s.violated)
		}
		_ = d.Close()
	}
}

// TestStreamProgress checks that the progress of a stream is reported up to its end, and none of a
// transaction in memory.
func TestStreamProgress(t *testing.T) {
	d, err := blocktap.OpenImage(guardtest.Mkfs(t, "ext3", 16<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := newStreamTest(t, "ext3")
	calls, done, total := 0, 0, 0
	cfg := guard.RulesConfig{StreamProgress: func(d, n int) { calls, done, total = calls+1, d, n }}
	if s.rules, err = cfg.Load(); err != nil {
		t.Fatal(err)
	}
	if s.judge(d, false); calls > 0 {
		t.Error("the progress of a transaction in memory is reported")
	}
	if s.judge(d, true); calls == 0 || done != total || total == 0 {
		t.Errorf("%d reports, the last of %d of %d records", calls, done, total)
	}
}

// TestStreamNamesWhatItCannotAnswer checks that a rule that needs the whole transaction in memory
// is undecided and says so, while the other rules check.
func TestStreamNamesWhatItCannotAnswer(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "btrfs"), 0o700); err != nil {
		t.Fatal(err)
	}
	const text = `
violation(101, T, k(D,dir_item,H)) :-
	add(T, k(D,dir_item,H)), query(T, k(D,dir_item,H), name, N),
	change(_, k(_,inode_ref,_), name, _, N).
violation(102, 5, k(256,inode_item,0)) :-
	add(5, k(256,inode_item,0)), count(add(5, k(256,dir_item,_)), N), N >= 0.
violation(103, T, k(I,dir_item,H)) :-
	add(T, k(I,dir_item,H)), change(_, k(J,inode_item,_), object, null, present), J =:= I + 1.
`
	if err := os.WriteFile(filepath.Join(dir, "btrfs", "mine.pl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := blocktap.OpenImage(capturedBase(t, "btrfs-single-4k"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := newStreamTest(t, "btrfs")
	if s.rules, err = (guard.RulesConfig{Dir: dir}).Load(); err != nil {
		t.Fatal(err)
	}
	ev, _ := s.judge(d, true)
	if names := guard.RuleNames(ev.Violations); !slices.Contains(names, "btrfs/102") ||
		len(ev.Violations[0].Witness) == 0 {
		t.Errorf("rule 102 found nothing, or without its record: %s", guardtest.TextOf(ev))
	}
	if len(ev.Undecided) == 0 || !strings.Contains(strings.Join(ev.Undecided, "\n"),
		"cannot be judged in a file system that is too large") {
		t.Errorf("undecided: %v", ev.Undecided)
	}
}
