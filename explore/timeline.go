package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/explore/ramdisk"
)

// timelineName is the file with the ticks of an error, in its folder.
const timelineName = "timeline.json"

// A Tick is a write, a flush or a mark in the last step of an error.
type Tick struct {
	What    string `json:"what"`   // "write", "flush", or the text of a mark
	Record  uint64 `json:"record"` // number of the log record
	Bio     uint64 `json:"bio,omitempty"`
	Disk    uint32 `json:"disk,omitempty"`
	Sector  uint64 `json:"sector,omitempty"`
	Sectors uint64 `json:"sectors,omitempty"`
}

// ticks returns the ticks of the last step of an execution.
func ticks(r *execution) (out []Tick) {
	for _, rec := range r.records {
		switch {
		case rec.Type == ramdisk.Mark:
			text := string(rec.Data)
			if kind, window, ok := parseWindowMark(text); kind == markStep {
				out = nil // of earlier steps
				continue
			} else if ok && window < len(r.windows) {
				text = kind
			} else if n, ok := promiseMark(text, markBegin, r.calls); ok {
				text = r.calls[n].call + " begins"
			} else if n, ok := promiseMark(text, markReturn, r.calls); ok {
				text = r.calls[n].call + " returns"
			}
			out = append(out, Tick{What: text, Record: rec.Seq})
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
