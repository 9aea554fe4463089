package matrix

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fsward/dev/uml"
	"fsward/interp"
)

// quiet is how long a booted Linux may take for one cell. If a cell takes longer twice, it counts
// as hung: once may be the fault of a busy host.
const quiet = time.Minute

// A machine boots user-mode Linux with umlinit as its first process.
type machine struct {
	*uml.Machine
	init string
}

// newMachine makes the first process of the guest and the files that its kernel needs on this host.
func newMachine(ctx context.Context, dir string) (*machine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &machine{init: filepath.Join(dir, "umlinit")}
	if m.Machine, err = uml.New(ctx, dir); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", m.init, "fsward/dev/matrix/umlinit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("umlinit: %w\n%s", err, out)
	}
	return m, nil
}

// askLinux asks Linux about the rows without an answer, many in one boot. The result of replaying a
// log is given to the checker.
func askLinux(ctx context.Context, cfg Config, rows []*Row, checks *answers) error {
	answers, err := openAnswers(filepath.Join(cfg.Dir, "linux.jsonl"))
	if err != nil {
		return err
	}
	defer answers.close()
	var todo []*Row
	for _, r := range rows {
		var known bool
		if r.Linux, known = answers.get(r.ID()); !known {
			todo = append(todo, r)
		}
	}
	if !cfg.Linux || len(todo) == 0 {
		return nil
	}
	// It asks first about commits that fsward lets through, stage by stage, and within a stage in
	// random order: a run that is ended early has then covered some of everything where the answer
	// matters most.
	refused := func(r *Row) int {
		if r.Fsward.Refused() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(todo, func(a, b *Row) int { return refused(a) - refused(b) })
	m, err := newMachine(ctx, cfg.Dir)
	if err != nil {
		return err
	}
	progress := newProgress(cfg.Log, len(todo))
	for len(todo) > 0 {
		st, n := todo[0].stage, 1
		for n < len(todo) && todo[n].stage == st && refused(todo[n]) == refused(todo[0]) {
			n++
		}
		list := todo[:n]
		todo = todo[n:]
		rand.New(rand.NewPCG(1, 0)).Shuffle(len(list),
			func(i, j int) { list[i], list[j] = list[j], list[i] })
		var wg sync.WaitGroup
		errs := make([]error, cfg.Workers)
		for w := range cfg.Workers {
			part := list[len(list)*w/cfg.Workers : len(list)*(w+1)/cfg.Workers]
			wg.Go(func() {
				if st.log {
					errs[w] = m.replay(ctx, cfg.Dir, st, part, answers, checks, progress)
				} else {
					errs[w] = m.judge(ctx, cfg.Dir, st, part, answers, progress)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// judge boots until every row of a stage has an answer. A kernel that crashes or hangs answers one
// row with that.
func (m *machine) judge(ctx context.Context, dir string, st *stage, rows []*Row, answers *answers,
	progress *progress) error {
	if len(rows) == 0 {
		return nil
	}
	work, err := workFolder(dir, cellsFile(rows))
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	slow := -1 // the row that took too long
	for first := 0; first < len(rows); {
		images, err := copyDisks(ctx, work, st)
		if err != nil {
			return err
		}
		ended := "crashes"
		err = m.boot(ctx, st.format.name, work, images, first, func(i int, p Peer) error {
			if i != first {
				return fmt.Errorf("user-mode Linux answers for cell %d, not %d", i, first)
			}
			rows[i].Linux = p
			first++
			progress.step(rows[i])
			return answers.put(rows[i].ID(), p)
		})
		if errors.Is(err, errHung) {
			ended, err = "hangs", nil
		}
		if err != nil {
			return err
		}
		if ended == "hangs" && slow != first {
			slow = first
			continue
		}
		if first < len(rows) {
			p := Peer{Verdict: ended}
			rows[first].Linux = p
			if err := answers.put(rows[first].ID(), p); err != nil {
				return err
			}
			progress.step(rows[first])
			first++
		}
	}
	return nil
}

// replay boots for each row alone, since a mount that replays a log writes to the image, and checks
// the resulting image.
func (m *machine) replay(ctx context.Context, dir string, st *stage, rows []*Row, linux,
	checks *answers, progress *progress) error {
	work, err := workFolder(dir, binary.LittleEndian.AppendUint32(nil, 0)) // the guest alters nothing
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, r := range rows {
		images, err := m.replayOne(ctx, work, st, r)
		if r.Linux.Verdict == "hangs" && err == nil {
			images, err = m.replayOne(ctx, work, st, r)
		}
		if err != nil {
			return err
		}
		if r.Check, err = st.format.ask(ctx, disks{paths: images}); err != nil {
			return err
		}
		if err := errors.Join(linux.put(r.ID(), r.Linux), checks.put(r.ID(), r.Check)); err != nil {
			return err
		}
		progress.step(r)
	}
	return nil
}

// replayOne boots for a row and returns the resulting image.
func (m *machine) replayOne(ctx context.Context, work string, st *stage,
	r *Row) (images []string, err error) {
	if images, err = copyDisks(ctx, work, st); err != nil {
		return nil, err
	}
	if err := patchFile(images[0], r.patches); err != nil { // logs are recorded on one disk
		return nil, err
	}
	r.Linux = Peer{Verdict: "crashes"}
	err = m.boot(ctx, st.format.name, work, images, 0, func(_ int, p Peer) error {
		r.Linux = p
		return nil
	})
	if errors.Is(err, errHung) {
		r.Linux, err = Peer{Verdict: "hangs"}, nil
	}
	return images, err
}

// copyDisks copies the disks of a stage to a place where the guest may write to them.
func copyDisks(ctx context.Context, work string, st *stage) (paths []string, err error) {
	for i, image := range st.after {
		path := filepath.Join(work, fmt.Sprintf("disk%d", i))
		if err := run(ctx, "cp", "--sparse=always", image, path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func patchFile(path string, patches []interp.Patch) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for _, p := range patches {
		_, e := f.WriteAt(p.Data, int64(p.Off))
		err = errors.Join(err, e)
	}
	return errors.Join(err, f.Close())
}

// workFolder makes the folder that the guest needs on the host.
func workFolder(dir string, cells []byte) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "uml-")
	if err != nil {
		return "", err
	}
	return work, errors.Join(os.Mkdir(filepath.Join(work, "dev"), 0o700),
		os.Mkdir(filepath.Join(work, "mnt"), 0o700),
		os.WriteFile(filepath.Join(work, "cells"), cells, 0o600))
}

// cellsFile returns cells in the form that umlinit reads: for each the number of patches, and
// offset, length and data of each patch.
func cellsFile(rows []*Row) []byte {
	var b []byte
	for _, r := range rows {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r.patches)))
		for _, p := range r.patches {
			b = binary.LittleEndian.AppendUint64(b, p.Off)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(p.Data)))
			b = append(b, p.Data...)
		}
	}
	return b
}

var errHung = errors.New("user-mode Linux hangs")

// boot runs the guest from one cell on until it ends, and passes on its answers as they come.
func (m *machine) boot(ctx context.Context, fs, work string, images []string, first int,
	answer func(int, Peer) error) error {
	results := filepath.Join(work, "results")
	if err := os.WriteFile(results, nil, 0o600); err != nil {
		return err
	}
	cmd := m.Command(256, images, m.init, work, strconv.Itoa(first), fs)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	// how it ends says nothing: after a crash an answer is missing
	go func() { _ = cmd.Wait(); close(ended) }()
	kill := func() {
		uml.Kill(cmd)
		<-ended
	}
	read, last := 0, time.Now()
	for {
		over := false
		select {
		case <-ctx.Done():
			kill()
			return ctx.Err()
		case <-ended:
			over = true
		case <-time.After(200 * time.Millisecond):
		}
		text, err := os.ReadFile(results)
		if err != nil {
			kill()
			return err
		}
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		for line := range strings.Lines(string(whole[min(read, len(whole)):])) {
			f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
			i, err := strconv.Atoi(f[0])
			if err == nil && len(f) == 3 {
				err = answer(i, Peer{f[1], f[2]})
			}
			if err != nil {
				kill()
				return err
			}
			last = time.Now()
		}
		read = len(whole)
		switch {
		case over:
			return nil
		case time.Since(last) > quiet:
			kill()
			return errHung
		}
	}
}
