package matrix

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"fsward/interp"
)

//go:embed uml/ptrace.c
var ptraceShim []byte

// quiet is how long a booted Linux may take for one cell before it counts as hung.
const quiet = time.Minute

// A machine is what boots user-mode Linux (Debian's package user-mode-linux).
type machine struct {
	kernel, init, shim string
}

// newMachine makes the first process of the guest and what its kernel needs on this host.
func newMachine(ctx context.Context, dir string) (*machine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	m := &machine{init: filepath.Join(dir, "umlinit"), shim: filepath.Join(dir, "ptrace.so")}
	if m.kernel, err = exec.LookPath("linux.uml"); err != nil {
		return nil, fmt.Errorf("%w: apt-get install user-mode-linux", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", m.init, "fsward/hostd/matrix/umlinit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("umlinit: %w\n%s", err, out)
	}
	cc := exec.CommandContext(ctx, "gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-o", m.shim, "-")
	cc.Stdin = bytes.NewReader(ptraceShim)
	if out, err := cc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("uml/ptrace.c: %w\n%s", err, out)
	}
	return m, nil
}

// askLinux fills in what Linux says of each row: of those that are not known yet, many in one boot. What it makes of a
// log is given to `btrfs check`.
func askLinux(ctx context.Context, cfg Config, rows []*Row, checks *answers) error {
	answers, err := openAnswers(filepath.Join(cfg.Dir, "linux.jsonl"))
	if err != nil {
		return err
	}
	defer answers.close()
	byStage := make(map[*stage][]*Row)
	var order []*stage
	todo := 0
	for _, r := range rows {
		var known bool
		if r.Linux, known = answers.get(r.ID()); known {
			continue
		}
		if byStage[r.stage] == nil {
			order = append(order, r.stage)
		}
		byStage[r.stage] = append(byStage[r.stage], r)
		todo++
	}
	if !cfg.Linux || todo == 0 {
		return nil
	}
	m, err := newMachine(ctx, cfg.Dir)
	if err != nil {
		return err
	}
	progress := newProgress(cfg.Log, todo)
	for _, st := range order {
		list := byStage[st]
		// In an order of chance, so that a run that is ended early has asked some of everything.
		rand.New(rand.NewPCG(1, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
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

// judge boots until every row of a stage has an answer: a kernel that crashes or hangs takes one row with it.
func (m *machine) judge(ctx context.Context, dir string, st *stage, rows []*Row, answers *answers, progress *progress) error {
	if len(rows) == 0 {
		return nil
	}
	work, err := workFolder(dir, cellsFile(rows))
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for first := 0; first < len(rows); {
		image := filepath.Join(work, "image")
		if _, err := run(ctx, "cp", "--sparse=always", st.after, image); err != nil {
			return err
		}
		ended := "crashes"
		err := m.boot(ctx, work, first, func(i int, p Peer) error {
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

// replay boots for each row alone, since a mount that replays a log writes to the image, and checks what it has made.
func (m *machine) replay(ctx context.Context, dir string, st *stage, rows []*Row, linux, checks *answers, progress *progress) error {
	work, err := workFolder(dir, binary.LittleEndian.AppendUint32(nil, 0)) // nothing is altered by the guest
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	image := filepath.Join(work, "image")
	for _, r := range rows {
		if _, err := run(ctx, "cp", "--sparse=always", st.after, image); err != nil {
			return err
		}
		if err := patchFile(image, r.patches); err != nil {
			return err
		}
		r.Linux = Peer{Verdict: "crashes"}
		err := m.boot(ctx, work, 0, func(_ int, p Peer) error {
			r.Linux = p
			return nil
		})
		if errors.Is(err, errHung) {
			r.Linux, err = Peer{Verdict: "hangs"}, nil
		}
		if err != nil {
			return err
		}
		if r.Check, err = askCheck(ctx, image); err != nil {
			return err
		}
		if err := errors.Join(linux.put(r.ID(), r.Linux), checks.put(r.ID(), r.Check)); err != nil {
			return err
		}
		progress.step(r)
	}
	return nil
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

// workFolder makes what the guest needs to find on the host.
func workFolder(dir string, cells []byte) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(dir, "uml-")
	if err != nil {
		return "", err
	}
	return work, errors.Join(os.Mkdir(filepath.Join(work, "dev"), 0o700), os.Mkdir(filepath.Join(work, "mnt"), 0o700),
		os.WriteFile(filepath.Join(work, "cells"), cells, 0o600))
}

// cellsFile is the form in which umlinit reads cells: of each the number of patches, and offset, length
// and data of each.
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

// boot runs the guest from one cell on until it ends, and hands over its answers as they come.
func (m *machine) boot(ctx context.Context, work string, first int, answer func(int, Peer) error) error {
	results := filepath.Join(work, "results")
	if err := os.WriteFile(results, nil, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(m.kernel, "mem=256M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw",
		"ubd0="+filepath.Join(work, "image"), "init="+m.init, "con=null", "con0=null", "--", work, strconv.Itoa(first))
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+m.shim)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its processes are several
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // how it ends says nothing: a crash is an answer missing
	kill := func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
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
