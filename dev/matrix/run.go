package matrix

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"fsward/hostd/guard"
)

// Config says how large the matrix is and where it goes.
type Config struct {
	FS      string // one of Formats
	Dir     string // folder of recordings, answers of the peers, and results
	Picks   int    // places for each corruption
	Workers int
	Only    string // regular expression that matches the IDs of wanted cells
	Cells   []Cell // only these cells, each of its variant; nil: all cells
	Linux   bool   // mount each image with user-mode Linux; otherwise only earlier answers are used
	Log     io.Writer
}

// A Row is a cell with its answers.
type Row struct {
	*Cell
	Fsward Fsward `json:"fsward"`
	Check  Peer   `json:"check"`
	Linux  Peer   `json:"linux"`
}

// Missed reports whether the checker reports what fsward lets through; for a log, whether Linux
// cannot replay it, or makes of it what the checker reports.
func (r *Row) Missed() bool {
	return (r.Check.Reports() || r.Where == logTree && r.Linux.Reports()) && !r.Fsward.Refused()
}

// Run makes missing recordings and judges every cell. The answers of the peers are kept in the
// directory and not asked for again; fsward is always asked.
func Run(ctx context.Context, cfg Config) ([]*Row, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	format, err := findFormat(cfg.FS)
	if err != nil {
		return nil, err
	}
	only, err := regexp.Compile(cfg.Only)
	if err != nil {
		return nil, err
	}
	var rows []*Row
	made := make(map[string]int)
	for _, v := range format.variants {
		wanted, count := format.universe(), made
		if cfg.Cells != nil {
			wanted = slices.DeleteFunc(slices.Clone(cfg.Cells),
				func(c Cell) bool { return c.Variant != v.Name })
		}
		if len(wanted) == 0 {
			continue
		}
		rec, err := format.record(ctx, cfg.Dir, v)
		if err != nil {
			return nil, err
		}
		list, err := cut(ctx, cfg.Dir, rec)
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
	answers, err := openAnswers(filepath.Join(cfg.Dir, "check.jsonl"))
	if err != nil {
		return nil, err
	}
	defer answers.close()
	if err := judgeAll(ctx, cfg, rows, answers); err != nil {
		return nil, err
	}
	return rows, askLinux(ctx, cfg, rows, answers)
}

// judgeAll gives rows to workers, stage by stage, so that each worker keeps one image.
func judgeAll(ctx context.Context, cfg Config, rows []*Row, answers *answers) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *Row)
	progress := newProgress(cfg.Log, len(rows))
	var wg sync.WaitGroup
	for range cfg.Workers {
		wg.Go(func() {
			if err := worker(ctx, cfg, next, answers, progress); err != nil {
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

func worker(ctx context.Context, cfg Config, next <-chan *Row, answers *answers,
	progress *progress) (err error) {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		return err
	}
	var copies *scratch
	var of *stage
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
		// a log is checked after Linux has replayed it
		if row.Check, known = answers.get(row.ID()); !known && !row.stage.log {
			if of != row.stage {
				if copies != nil {
					if err := copies.close(); err != nil {
						return err
					}
				}
				if copies, err = newScratch(ctx, cfg.Dir, row.stage.after); err != nil {
					return err
				}
				of = row.stage
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

// answers keeps the answers of a peer, one JSON object a line, so that a run that was ended can
// continue.
type answers struct {
	mu    sync.Mutex
	f     *os.File
	known map[string]Peer
}

type answer struct {
	ID string `json:"id"`
	Peer
}

func openAnswers(path string) (*answers, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	a := &answers{f: f, known: make(map[string]Peer)}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line answer
		// the last line of a run that was ended may be incomplete
		if json.Unmarshal(in.Bytes(), &line) == nil {
			a.known[line.ID] = line.Peer
		}
	}
	return a, in.Err()
}

func (a *answers) close() { _ = a.f.Close() }

func (a *answers) get(id string) (Peer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.known[id]
	return p, ok
}

func (a *answers) put(id string, p Peer) error {
	line, err := json.Marshal(answer{id, p})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[id] = p
	_, err = a.f.Write(append(line, '\n'))
	return err
}

// progress prints how far the matrix is, every few seconds.
type progress struct {
	mu            sync.Mutex
	w             io.Writer
	total, done   int
	missed        int
	start, spoken time.Time
}

func newProgress(w io.Writer, total int) *progress {
	return &progress{w: w, total: total, start: time.Now(), spoken: time.Now()}
}

func (p *progress) step(r *Row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if r.Missed() {
		p.missed++
		fmt.Fprintf(p.w, "missed: %s: %s\n", r.ID(), r.Check.Message)
	}
	if now := time.Now(); p.done == p.total || now.Sub(p.spoken) > 10*time.Second {
		p.spoken = now
		left := now.Sub(p.start) / time.Duration(p.done) * time.Duration(p.total-p.done)
		fmt.Fprintf(p.w, "%d of %d cells, %d missed, %s left\n", p.done, p.total, p.missed,
			left.Round(time.Second))
	}
}
