package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fsward/explore/ramdisk"
)

// timelineName is the file with the ticks of an error, in its folder.
const timelineName = "timeline.json"

// A Tick is a write, a flush or a mark in the last step of an error.
type Tick struct {
	What string `json:"what"` // "write", "flush", or the text of a mark
	// Mark is the text of Env.Mark, if the checker set the mark.
	Mark string `json:"mark,omitempty"`
	// Returned says that a call that promises durability has returned.
	Returned bool   `json:"returned,omitempty"`
	Record   uint64 `json:"record"` // number of the log record
	Bio      uint64 `json:"bio,omitempty"`
	Disk     uint32 `json:"disk,omitempty"`
	Sector   uint64 `json:"sector,omitempty"`
	Sectors  uint64 `json:"sectors,omitempty"`
}

// ticks returns the ticks of the last step of an execution.
func ticks(r *execution) (out []Tick) {
	for _, rec := range r.records {
		switch {
		case rec.Type == ramdisk.Mark:
			if kind, _, _ := parseWindowMark(string(rec.Data)); kind == markStep {
				out = nil // of earlier steps
				continue
			}
			out = append(out, r.markTick(rec.Seq, string(rec.Data)))
		case rec.Type == ramdisk.Submit && (rec.Op == ramdisk.Flush || rec.Flags&ramdisk.Preflush != 0):
			out = append(out, Tick{What: "flush", Record: rec.Seq, Bio: rec.ID, Disk: rec.Disk})
		}
		writes := rec.Op == ramdisk.Write || rec.Op == ramdisk.Discard || rec.Op == ramdisk.Zeroes
		if rec.Type == ramdisk.Submit && writes {
			out = append(out, Tick{What: "write", Record: rec.Seq, Bio: rec.ID, Disk: rec.Disk,
				Sector: rec.Sector, Sectors: rec.Len / ramdisk.SectorSize})
		}
	}
	return out
}

// markTick returns the tick of a mark.
func (r *execution) markTick(record uint64, text string) Tick {
	t := Tick{What: text, Record: record}
	if kind, window, ok := parseWindowMark(text); ok && window < len(r.windows) {
		t.What = kind
	} else if n, ok := promiseMark(text, markBegin, r.calls); ok {
		t.What = r.calls[n].call + " begins"
	} else if n, ok := promiseMark(text, markReturn, r.calls); ok {
		t.What, t.Returned = r.calls[n].call+" returns", true
	} else if own, ok := strings.CutPrefix(text, markUser); ok {
		t.Mark = own
	}
	return t
}

func writeTimeline(dir string, r *execution) error {
	b, err := json.Marshal(ticks(r))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, timelineName), b, 0o644)
}

// ReadTimeline reads the ticks of an error from its folder.
func ReadTimeline(dir string) (out []Tick, err error) {
	b, err := os.ReadFile(filepath.Join(dir, timelineName))
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("%s has no timeline", dir), err)
	}
	return out, err
}
