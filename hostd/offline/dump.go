package offline

import (
	"bufio"
	"fmt"
	"io"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// Dump writes every object of an image, or of the images of all disks of one file system, with its
// fields. With records it writes every change record, as one transaction of additions. If the
// structure of the image is violated, so that it cannot be dumped, the event says how; otherwise
// the event is nil.
func Dump(w io.Writer, images []string, fs string, records bool) (*guard.Event, error) {
	disk, err := openImages(images)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	name, obs, err := detect.Image(disk, fs)
	if err != nil {
		return nil, err
	}
	if obs.Unknown != nil {
		return nil, obs.Unknown
	}
	if obs.Txn == nil {
		return &guard.Event{FS: name, Kind: guard.KindImage, Generation: obs.Generation,
			Outcome: change.Violated, Violations: obs.Violations}, nil
	}
	out := bufio.NewWriter(w)
	for _, r := range obs.Txn.Records {
		if records {
			fmt.Fprintf(out, "%s.\n", obs.Txn.Schema.RecordText(r, obs.Txn.Names))
		} else {
			dumpField(out, obs.Txn, r)
		}
	}
	return nil, out.Flush()
}

// dumpField writes a record as the heading of an object, or as one of its fields beneath it. The
// records of an object are adjacent, and the record for the object itself comes first.
func dumpField(w io.Writer, t *change.Txn, r change.Record) {
	s := t.Schema
	if r.Field != change.FieldObject {
		fmt.Fprintf(w, "    %-20s %s\n", s.FieldName(r.Field), s.ValueText(r.New, t.Names))
		return
	}
	if s.KindIsTree {
		fmt.Fprintf(w, "%s %s\n", s.TreeText(r.Object), s.IDText(r.Object, t.Names))
		return
	}
	fmt.Fprintf(w, "tree %s %s\n", s.TreeText(r.Object), s.IDText(r.Object, t.Names))
}
