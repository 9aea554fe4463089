package offline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
)

// BenchConfig describes the generated commit that rules are measured on.
type BenchConfig struct {
	FS    string // "btrfs" or "ext3"
	Files int    // in one directory, each with a byte of data
	Rules guard.RulesConfig
	Site  bool // only the rules of the bundles
}

// Check returns an error that names the flag of a value that cannot be used.
func (c *BenchConfig) Check() error {
	switch {
	case c.FS != "ext3" && c.FS != "btrfs":
		return fmt.Errorf("--fs %q is not one of ext3, btrfs", c.FS)
	case c.Files < 4:
		return errors.New("--files must be 4 or more")
	}
	return nil
}

// A BenchedRule is the cost of a rule for a generated commit.
type BenchedRule struct {
	Rule string `json:"rule"`
	NS   int64  `json:"ns"`   // with all files
	Rows int64  `json:"rows"` // records and objects that it looked at
	// Growth is the exponent with which the time grows with the files, measured between a quarter
	// of them and all: 1 is linear, 2 a square. 0: the time is too short to measure it.
	Growth float64 `json:"growth,omitempty"`
}

// A Bench is the result of a measurement.
type Bench struct {
	Records int           `json:"records"` // of the commit with all files
	Verdict string        `json:"verdict"`
	Rules   []BenchedRule `json:"rules"`
	// Undecided has a line for each clause that could not be judged.
	Undecided []string `json:"undecided,omitempty"`
}

// leastBenched is the time below which a growth is noise.
const leastBenched = 2 * time.Millisecond

// BenchRules makes two file systems with files in one directory, one with a quarter of the files of
// the other, and measures each rule on the transaction that adds everything. It needs mkfs.ext3 or
// mkfs.btrfs, and no other right than to write temporary files.
func BenchRules(ctx context.Context, cfg BenchConfig) (*Bench, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fsward-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cfg.Rules.Timing = true
	quarter, err := cfg.measure(ctx, dir, cfg.Files/4)
	if err != nil {
		return nil, err
	}
	all, err := cfg.measure(ctx, dir, cfg.Files)
	if err != nil {
		return nil, err
	}
	out := &Bench{Records: all.Records, Verdict: all.Outcome.String(), Undecided: all.Undecided}
	before := map[string]int64{}
	for _, t := range quarter.RuleTimes {
		before[t.Rule] = t.NS
	}
	for _, t := range all.RuleTimes {
		if cfg.Site && !guard.IsSite(t.Rule) {
			continue
		}
		r := BenchedRule{Rule: t.Rule, NS: t.NS, Rows: t.Rows}
		if was := before[t.Rule]; was > 0 && t.NS >= leastBenched.Nanoseconds() {
			r.Growth = math.Log(float64(t.NS)/float64(was)) / math.Log(4)
		}
		out.Rules = append(out.Rules, r)
	}
	slices.SortStableFunc(out.Rules, func(a, b BenchedRule) int { return int(b.NS - a.NS) })
	return out, nil
}

// measure makes a file system with files and checks it.
func (c BenchConfig) measure(ctx context.Context, dir string, files int) (*guard.Event, error) {
	tree := filepath.Join(dir, fmt.Sprint("tree", files))
	many := filepath.Join(tree, "many")
	if err := os.MkdirAll(many, 0o755); err != nil {
		return nil, err
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprintf("file-%07d", i)), []byte{'x'},
			0o644); err != nil {
			return nil, err
		}
	}
	image := filepath.Join(dir, fmt.Sprint("image", files))
	size := int64(256<<20) + int64(files)*8192
	f, err := os.Create(image)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return nil, err
	}
	args := []string{"mkfs.ext3", "-q", "-F", "-N", fmt.Sprint(files + 1024), "-d", tree, image}
	if c.FS == "btrfs" {
		args = []string{"mkfs.btrfs", "-q", "--rootdir", tree, image}
	}
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s makes the file system to measure on: %w\n%s", args[0], err, out)
	}
	if err := os.RemoveAll(tree); err != nil {
		return nil, err
	}
	return c.judge(ctx, image)
}

// benchMemory is for the records of the commit, in bytes.
const benchMemory = 4 << 30

// judge judges the content of an image as a commit that adds it, so that rules about changes run,
// too.
func (c BenchConfig) judge(ctx context.Context, image string) (*guard.Event, error) {
	rules, err := c.Rules.Load()
	if err != nil {
		return nil, err
	}
	disks, err := openImages([]string{image})
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	name, obs, err := detect.ImageWith(disks, detect.Auto,
		interp.ImageOptions{Budget: interp.NewMemoryBudget(benchMemory, nil)})
	if err != nil {
		return nil, err
	}
	if obs.Txn == nil {
		return nil, errors.New("a file system with so many files is too large for the memory")
	}
	obs.Txn.Whole = false
	return guard.CheckImage(ctx, rules, name, obs, 0, func(int) string { return image }), nil
}
