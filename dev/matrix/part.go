package matrix

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Part is a part of the corruptions of a file system: those with the numbers First to Last, from
// 0. Count returns how many there are.
type Part struct{ First, Last int }

// ParsePart parses a part, such as "0-511".
func ParsePart(text string) (p Part, err error) {
	first, last, ok := strings.Cut(text, "-")
	if p.First, err = strconv.Atoi(first); err == nil {
		p.Last, err = strconv.Atoi(last)
	}
	if !ok || err != nil || p.First < 0 || p.Last < p.First {
		return p, fmt.Errorf("%q: want FIRST-LAST, two numbers of corruptions", text)
	}
	return p, nil
}

// Count returns the number of corruptions of a file system, each of which is tried at several
// places.
func Count(fs string) (int, error) {
	f, err := findFormat(fs)
	if err != nil {
		return 0, err
	}
	return len(f.allCells()), nil
}

// of returns the part of all cells.
func (p *Part) of(cells []Cell) []Cell {
	if p == nil {
		return cells
	}
	return cells[min(p.First, len(cells)):min(p.Last+1, len(cells))]
}

// A Miss is a row that fsward misses, as a unit of a campaign reports it.
type Miss struct {
	Event  string `json:"event"` // "finding"
	Kind   string `json:"kind"`
	Group  string `json:"group"`
	Damage string `json:"damage"` // Cell.ID
	Detail string `json:"detail"`
	Dir    string `json:"dir,omitempty"`
}

// Misses returns what is missed in rows. It writes each row to a folder of its own in dir; "":
// nowhere.
func Misses(rows []*Row, dir string) (out []Miss, err error) {
	for _, r := range rows {
		if !r.Missed() {
			continue
		}
		m := Miss{Event: "finding", Kind: "missed", Group: r.Group(), Damage: r.ID(),
			Detail: r.What + ": " + r.Check.Message}
		if dir != "" {
			m.Dir = filepath.Join(dir, fmt.Sprintf("%03d", len(out)+1))
			text, err := json.MarshalIndent(r, "", " ")
			if err == nil {
				err = os.MkdirAll(m.Dir, 0o755)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(m.Dir, "cell.json"), text, 0o644)
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// lock waits until no other process makes recordings in a folder.
func lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return func() { _ = f.Close() }, nil
}
