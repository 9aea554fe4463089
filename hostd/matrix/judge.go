package matrix

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/hostd"
)

// What fsward says of a cell.
type Fsward struct {
	Verdict string   `json:"verdict"`         // "holds", "violated", "undecided"
	Rules   []string `json:"rules,omitempty"` // violated, by name; structure too
	Detail  string   `json:"detail,omitempty"`
}

// Refused tells whether the commit does not reach the disk.
func (f Fsward) Refused() bool { return f.Verdict != "" && f.Verdict != change.Holds.String() }

// askFsward replays the transaction of a cell with the corruption in it.
func askFsward(ctx context.Context, rules *hostd.Rules, c *Cell) (Fsward, error) {
	base, err := blocktap.OpenImage(c.stage.before)
	if err != nil {
		return Fsward{}, err
	}
	defer base.Close()
	disk, err := overlay.New(base)
	if err != nil {
		return Fsward{}, err
	}
	defer disk.Close()
	requests, err := c.stage.txn.Patched(c.patches)
	if err != nil {
		return Fsward{}, err
	}
	ev, err := hostd.Try(ctx, disk, "btrfs", rules, requests)
	if err != nil {
		return Fsward{}, err
	}
	if ev == nil {
		return Fsward{Verdict: change.Holds.String()}, nil
	}
	out := Fsward{Verdict: ev.Outcome.String()}
	for _, v := range ev.Violations {
		out.Rules = append(out.Rules, v.Rule)
		if out.Detail == "" {
			out.Detail = v.Doc
			if v.Detail != "" {
				out.Detail = v.Detail
			}
		}
	}
	slices.Sort(out.Rules)
	out.Rules = slices.Compact(out.Rules)
	if len(ev.Undecided) > 0 {
		out.Detail = ev.Undecided[0]
	}
	return out, nil
}

// A Peer is what another program says of the image.
type Peer struct {
	Verdict string `json:"verdict"` // "" not asked; "ok", "reports", "crashes", "hangs"
	Message string `json:"message,omitempty"`
}

// Reports tells whether the program found something.
func (p Peer) Reports() bool { return p.Verdict != "" && p.Verdict != "ok" }

// checkTime is what `btrfs check` may take: a corrupt image can make it run for ever.
const checkTime = 20 * time.Second

// A scratch is an image in which one cell at a time is made.
type scratch struct {
	stage *stage
	file  *os.File
}

// newScratch copies the image after a stage.
func newScratch(ctx context.Context, dir string, st *stage) (*scratch, error) {
	f, err := os.CreateTemp(dir, "scratch-*.img")
	if err != nil {
		return nil, err
	}
	if _, err := run(ctx, "cp", "--sparse=always", st.after, f.Name()); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &scratch{st, f}, nil
}

func (s *scratch) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

// with calls ask while the image carries a cell's corruption.
func (s *scratch) with(c *Cell, ask func(image string) error) (err error) {
	var old [][]byte
	for _, p := range c.patches {
		b := make([]byte, len(p.Data))
		if _, err := s.file.ReadAt(b, int64(p.Off)); err != nil {
			return err
		}
		old = append(old, b)
		if _, err := s.file.WriteAt(p.Data, int64(p.Off)); err != nil {
			return err
		}
	}
	defer func() {
		for i, p := range c.patches {
			_, e := s.file.WriteAt(old[i], int64(p.Off))
			err = errors.Join(err, e)
		}
	}()
	return ask(s.file.Name())
}

// noise is what `btrfs check` prints whatever it finds.
var noise = regexp.MustCompile(`^(\[\d/\d\]|Opening filesystem|Checking filesystem|UUID:|found \d+ bytes|total |btree space|file data blocks| referenced |cache and super|no error|extent buffer leak|No device size|\s*$)`)

// askCheck runs `btrfs check` over an image.
func askCheck(ctx context.Context, image string) (Peer, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "btrfs", "check", "--force", image) // whether it is mounted is not asked of all devices
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Peer{"hangs", message(out)}, nil
	case err == nil:
		return Peer{Verdict: "ok"}, nil
	case !errors.As(err, &exit):
		return Peer{}, err
	case exit.ExitCode() < 0:
		return Peer{"crashes", message(out)}, nil
	default:
		return Peer{"reports", message(out)}, nil
	}
}

// message is the first lines that say what is wrong.
func message(out []byte) string {
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if !noise.MatchString(l) {
			lines = append(lines, strings.TrimSpace(l))
		}
	}
	if len(lines) > 3 {
		lines = lines[:3]
	}
	text := strings.ToValidUTF8(strings.Join(lines, " | "), "?")
	return text[:min(len(text), 300)]
}
