package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/linux"
	"fsward/repair/testimage"
	"fsward/repair/vote"
)

// voters are the file systems that vote, one of each family.
var voters = []string{"ext3", "minix3", "xfs", "f2fs", "reiserfs", "jfs", "exfat"}

// An election asks other file systems what their repairs recover of the same tree after the same
// damage. It is safe for concurrent use.
type election struct {
	fs    string
	table *vote.Table
	model *damage.Model     // of the campaign's image
	truth map[string]string // what the campaign's image has: value by attribute

	mu      sync.Mutex
	peers   map[string]*peer
	ballots map[string][]vote.Ballot // by field and value
}

// A peer is another file system with the program that repairs it.
type peer struct {
	*worker
	model *damage.Model
	truth map[string]string
}

// newElection prepares a vote about an image. The other images are made when they are needed.
func newElection(fs string, base *testimage.Image, truth map[string]string) (*election, error) {
	table, err := vote.Shared()
	if err != nil {
		return nil, err
	}
	if table.Family(fs) == "" {
		return nil, fmt.Errorf("%s shares no fields; these do: %s", fs,
			strings.Join(table.FileSystems(), ", "))
	}
	m, err := damage.NewModel(base, fs)
	return &election{fs: fs, table: table, model: m, truth: truth,
		peers: map[string]*peer{}, ballots: map[string][]vote.Ballot{}}, err
}

func (e *election) close() error {
	var errs []error
	for _, p := range e.peers {
		errs = append(errs, p.close(), p.checks.close(), p.base.Close())
	}
	return errors.Join(errs...)
}

// ballot compares what an image has with what it had.
func ballot(truth, now map[string]string) vote.Ballot {
	b := vote.Ballot{}
	for what, value := range truth {
		have, ok := now[what]
		b[what] = ok && have == value
	}
	return b
}

// splitSpec returns the place and the value in the specification of a damage of a group.
func splitSpec(group, spec string) (place string, value uint64, ok bool) {
	i := strings.LastIndex(spec, "=0x") // a place may have = in it, too
	if i < len(group) {
		return "", 0, false
	}
	value, err := strconv.ParseUint(spec[i+len("=0x"):], 16, 64)
	return strings.TrimPrefix(spec[len(group):i], "@"), value, err == nil
}

// vote compares what the program recovered with what those of other file systems recover.
func (w *worker) vote(t *trial) error {
	e := w.checks.election
	place, value, ok := splitSpec(w.damage.Group, w.damage.Spec)
	if !ok {
		return nil
	}
	field, ok := e.table.Field(e.fs, w.damage.Group, place)
	if !ok {
		return nil
	}
	now, err := w.attributes()
	if err != nil || now == nil {
		return err
	}
	mine := ballot(e.truth, now)
	if mine.Whole() { // nothing can be lost, and the others need not be asked
		return nil
	}
	others, err := e.others(field, e.model.Field(w.damage.Group, place), value)
	if err != nil {
		return fmt.Errorf("check %s: %w", Complete, err)
	}
	lost := vote.Tally(mine, others)
	if len(lost) == 0 {
		return nil
	}
	text := strings.Join(lost[:min(len(lost), maxLosses)], ", ")
	if len(lost) > maxLosses {
		text += fmt.Sprintf(", and %d more", len(lost)-maxLosses)
	}
	t.add(Failure{Kind: Incomplete, Run: len(t.runs), Messages: vote.Attributes(lost),
		Detail: fmt.Sprintf("of %d other file systems with the same damage of the %v, most recover: %s",
			len(others), field, text)})
	return nil
}

// others returns the ballots of the other file systems about a damage. One whose program does not
// call the file system clean, or that Linux does not mount then, does not vote.
func (e *election) others(field vote.Field, own *damage.Field,
	value uint64) ([]vote.Ballot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := fmt.Sprintf("%v %x", field, value)
	if list, ok := e.ballots[key]; ok {
		return list, nil
	}
	list := []vote.Ballot{}
	for _, fs := range voters {
		group, place, has := e.table.On(fs, field)
		if !has || e.table.Family(fs) == e.table.Family(e.fs) {
			continue
		}
		p, err := e.peer(fs)
		if err != nil {
			return nil, fmt.Errorf("the voter %s: %w", fs, err)
		}
		f := p.model.Field(group, place)
		if f == nil {
			return nil, fmt.Errorf("the voter %s has no field %s of %s", fs, group, place)
		}
		b, err := p.elect(f, vote.Translate(value, own.Old, own.Mask(), f.Old, f.Mask()))
		if err != nil {
			return nil, fmt.Errorf("the voter %s: %w", fs, err)
		}
		if b != nil {
			list = append(list, b)
		}
	}
	e.ballots[key] = list
	return list, nil
}

// peer returns the voter of a file system.
func (e *election) peer(fs string) (*peer, error) {
	if p := e.peers[fs]; p != nil {
		return p, nil
	}
	program, _, err := adapter.Find("", fs)
	if err != nil {
		return nil, err
	}
	base, err := testimage.Build(context.Background(), fs, os.TempDir())
	if err != nil {
		return nil, err
	}
	p, err := newPeer(fs, program, base)
	if err != nil {
		return nil, errors.Join(err, base.Close())
	}
	e.peers[fs] = p
	return p, nil
}

func newPeer(fs string, program *adapter.Program, base *testimage.Image) (*peer, error) {
	c := &checks{fs: fs}
	truth, err := c.truth(base)
	if err != nil {
		return nil, err
	}
	m, err := damage.NewModel(base, fs)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	w, err := newWorker(program, base, c)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return &peer{w, m, truth}, nil
}

// elect damages a field of the voter's image, repairs it, and looks at what is left. It returns nil
// if the damage is not possible, or the program does not call the result clean.
func (p *peer) elect(f *damage.Field, value uint64) (vote.Ballot, error) {
	d, err := f.Damage(p.base, value)
	if errors.Is(err, damage.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &p.program.Repairs[0]
	t, err := p.try(d.Patches, m)
	if err != nil || len(t.failures) > 0 || t.runs[len(t.runs)-1].Outcome != repair.Consistent {
		return nil, err
	}
	now, err := p.attributes()
	if err != nil || now == nil {
		return nil, err
	}
	return ballot(p.truth, now), nil
}

// attributes returns the attributes of the files of the worker's image, as Linux sees it, or, if
// the kernel does not know the file system, as fsward reads it. It returns nil if the image cannot
// be read.
func (w *worker) attributes() (map[string]string, error) {
	if !slices.Contains(linux.FileSystems(), w.checks.fs) {
		now, err := w.contents()
		if err != nil {
			return nil, err
		}
		defer now.Close()
		list, err := readAttributes(now, w.checks.fs)
		if err != nil {
			return nil, nil // the check harmless reports it
		}
		return list, nil
	}
	v, err := (&viewer{w}).look(false)
	if errors.Is(err, linux.ErrEnded) {
		w.endLinux()
		return nil, nil // the check mounts reports it
	}
	if err != nil || v == nil || v.Files == nil {
		return nil, err
	}
	return viewed(v), nil
}
