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

	"fsward/explore/uml"
	"fsward/interp"
)

// cellTimeout bounds the time that a booted Linux has for one cell. A cell that exceeds it twice
// counts as hung. Once is not enough, since the host may be busy.
const cellTimeout = time.Minute

// A machine boots user-mode Linux with umlinit as its first process.
type machine struct {
	*uml.Machine
	init string
}

// initName is the name of umlinit beside the program of a campaign. A unit of a campaign does not
// run in the folder of the sources.
const initName = "fsward-matrix-init"

// newMachine builds umlinit unless it is there, and makes in dir the files that the guest's kernel
// needs on this host.
func newMachine(ctx context.Context, dir string) (*machine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &machine{}
	if m.Machine, err = uml.New(ctx, dir); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m.init = filepath.Join(filepath.Dir(program), initName)
	if _, err := os.Stat(m.init); err == nil {
		return m, nil
	}
	m.init = filepath.Join(dir, "umlinit")
	build := exec.CommandContext(ctx, "go", "build", "-o", m.init, "fsward/dev/matrix/umlinit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("umlinit: %w\n%s", err, out)
	}
	return m, nil
}

// askLinux asks Linux about the rows that it has not answered yet, many in one boot. It starts with
// commits that fsward lets through. Within a stage the order is random, so that an interrupted run
// has sampled all kinds of cells. checks takes the checker's answers about replayed logs.
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
	refused := func(r *Row) int {
		if r.Fsward.Refused() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(todo, func(a, b *Row) int { return refused(a) - refused(b) })
	// Runs of several parts have the same folder, at the same time.
	home, err := os.MkdirTemp(cfg.Dir, "uml-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	m, err := newMachine(ctx, home)
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
		err := inParts(list, cfg.Workers, func(part []*Row) error {
			if st.log {
				return m.replayLogs(ctx, cfg.Dir, st, part, answers, checks, progress)
			}
			return m.mountCells(ctx, cfg.Dir, st, part, answers, progress)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inParts divides a list into parts of about equal length, calls do for all parts at the same time,
// and joins the errors.
func inParts(list []*Row, parts int, do func([]*Row) error) error {
	var wg sync.WaitGroup
	errs := make([]error, parts)
	for i := range parts {
		part := list[len(list)*i/parts : len(list)*(i+1)/parts]
		wg.Go(func() { errs[i] = do(part) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// mountCells boots Linux until every row of a stage has an answer. If the kernel crashes or hangs,
// this is the answer for the row that it worked on, and the next boot continues after that row.
func (m *machine) mountCells(ctx context.Context, dir string, st *stage, rows []*Row,
	answers *answers, progress *progress) error {
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

// replayLogs boots Linux for each row alone, since a mount that replays a log writes to the image.
// It then asks the checker about the resulting image.
func (m *machine) replayLogs(ctx context.Context, dir string, st *stage, rows []*Row, linux,
	checks *answers, progress *progress) error {
	// one cell without patches: the image is altered on the host
	work, err := workFolder(dir, binary.LittleEndian.AppendUint32(nil, 0))
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for _, r := range rows {
		images, err := m.replayLog(ctx, work, st, r)
		if r.Linux.Verdict == "hangs" && err == nil {
			images, err = m.replayLog(ctx, work, st, r)
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

// replayLog boots Linux for a row and returns the resulting images.
func (m *machine) replayLog(ctx context.Context, work string, st *stage,
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

// copyDisks copies the disks of a stage to a work folder, where the guest may write to them.
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

// workFolder makes the work folder of a guest: the argument DIR of umlinit.
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

// cellsFile encodes cells for umlinit, little-endian: for each cell the number of its patches, and
// for each patch its address, its length and its data.
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

// boot runs the guest from cell first on until the guest ends, and calls answer for each answer as
// it arrives. It returns errHung if no answer arrives for cellTimeout.
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
	// The exit status is not used: the caller recognizes a crash by a missing answer.
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
		case time.Since(last) > cellTimeout:
			kill()
			return errHung
		}
	}
}
