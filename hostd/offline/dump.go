package offline

import (
	"bufio"
	"fmt"
	"io"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// Dump writes every object of an image, or of the images of all disks of one file system, with its fields,
// or with records every change record as one transaction of additions. The event it returns carries what is wrong with the structure
// of an image that cannot be dumped for that reason, and is nil otherwise.
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
		return &guard.Event{FS: name, Kind: guard.KindImage, Generation: obs.Generation, Outcome: change.Violated, Violations: obs.Violations}, nil
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

// dumpField writes a record as an object's heading or as one of its fields beneath it: records of an
// object come together, the one for the object itself first.
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
