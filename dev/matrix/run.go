package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"fsward/hostd/guard"
)

// Config selects the cells of a matrix and the folder of its files.
type Config struct {
	FS      string // one of Formats
	Dir     string // folder of recordings, answers of the peers, and results
	Picks   int    // maximum number of places for each corruption
	Workers int
	Only    string // regular expression that matches the IDs of wanted cells
	Cells   []Cell // the wanted cells, each with its variant; nil: all cells
	Part    *Part  // of all cells; nil: each
	Linux   bool   // mount each image with user-mode Linux; false: use only earlier answers
	Log     io.Writer
}

// A Row is a cell with its answers.
type Row struct {
	*Cell
	Fsward Fsward `json:"fsward"`
	Check  Peer   `json:"check"`
	Linux  Peer   `json:"linux"`
}

// Missed reports whether fsward lets a corruption through that a peer finds. The peer is the
// checker; for a log it is also Linux, which may be unable to replay it.
func (r *Row) Missed() bool {
	return (r.Check.Reports() || r.Where == logTree && r.Linux.Reports()) && !r.Fsward.Refused()
}

// Run makes the missing recordings and collects the answers for every cell. It keeps the answers of
// the peers in the directory and asks each peer once. It always asks fsward.
func Run(ctx context.Context, cfg Config) ([]*Row, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	format, err := findFormat(cfg.FS)
	if err != nil {
		return nil, err
	}
	rows, err := format.collect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	answers, err := openAnswers(filepath.Join(cfg.Dir, "check.jsonl"))
	if err != nil {
		return nil, err
	}
	defer answers.close()
	if err := checkRows(ctx, cfg, rows, answers); err != nil {
		return nil, err
	}
	return rows, askLinux(ctx, cfg, rows, answers)
}

// collect makes the rows of all wanted cells, without answers.
func (f *format) collect(ctx context.Context, cfg Config) ([]*Row, error) {
	only, err := regexp.Compile(cfg.Only)
	if err != nil {
		return nil, err
	}
	unlock, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var rows []*Row
	made := make(map[string]int)
	for _, v := range f.variants {
		wanted, count := cfg.Part.of(f.allCells()), made
		if cfg.Cells != nil {
			wanted = slices.DeleteFunc(slices.Clone(cfg.Cells),
				func(c Cell) bool { return c.Variant != v.Name })
		}
		if len(wanted) == 0 {
			continue
		}
		rec, err := f.record(ctx, cfg.Dir, v)
		if err != nil {
			return nil, err
		}
		list, err := saveStages(ctx, cfg.Dir, rec)
		if err != nil {
			return nil, err
		}
		if v.several() {
			count = make(map[string]int)
			slices.Reverse(list) // the commits that change its devices come last
		}
		for _, st := range list {
			cells, err := generate(st, wanted, cfg.Picks, count)
			if err != nil {
				return nil, fmt.Errorf("%s, commit %d from the end: %w", v.Name, st.number, err)
			}
			for _, c := range cells {
				if only.MatchString(c.ID()) {
					rows = append(rows, &Row{Cell: c})
				}
			}
			fmt.Fprintf(cfg.Log, "%s, commit %d from the end: %d cells\n", v.Name, st.number, len(cells))
		}
	}
	return rows, nil
}

// checkRows asks fsward and the checker about all rows. The workers take the rows in their order,
// stage by stage, so that each worker copies the disks of a stage once.
func checkRows(ctx context.Context, cfg Config, rows []*Row, answers *answers) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *Row)
	progress := newProgress(cfg.Log, len(rows))
	var wg sync.WaitGroup
	for range cfg.Workers {
		wg.Go(func() {
			if err := checkWorker(ctx, cfg, next, answers, progress); err != nil {
				cancel(err)
			}
		})
	}
	for _, r := range rows {
		select {
		case next <- r:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// checkWorker asks fsward and the checker about the rows that it takes from next.
func checkWorker(ctx context.Context, cfg Config, next <-chan *Row, answers *answers,
	progress *progress) (err error) {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		return err
	}
	var copies *scratch
	var copied *stage // the stage of copies
	defer func() {
		if copies != nil {
			err = errors.Join(err, copies.close())
		}
	}()
	for row := range next {
		if row.Fsward, err = askFsward(ctx, rules, row.Cell); err != nil {
			return fmt.Errorf("%s: %w", row.ID(), err)
		}
		var known bool
		// the checker sees a log only after Linux has replayed it: replayLogs
		if row.Check, known = answers.get(row.ID()); !known && !row.stage.log {
			if copied != row.stage {
				if copies != nil {
					if err := copies.close(); err != nil {
						return err
					}
				}
				if copies, err = newScratch(ctx, cfg.Dir, row.stage.after); err != nil {
					return err
				}
				copied = row.stage
			}
			err = copies.with(row.Cell, func(d disks) (err error) {
				row.Check, err = row.stage.format.ask(ctx, d)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", row.ID(), err)
			}
			if err := answers.put(row.ID(), row.Check); err != nil {
				return err
			}
		}
		progress.step(row)
	}
	return nil
}
