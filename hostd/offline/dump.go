package offline

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// Dump writes every object of the file systems on images, with its fields. With records it writes
// every change record, as one transaction of additions. An image may be IMG:VOLUME; otherwise all
// volumes are written, each under a heading. If the structure of a file system is violated, so that
// it cannot be dumped, the event says how; otherwise the event is nil.
func Dump(w io.Writer, args []string, fs string, records bool) (*guard.Event, error) {
	images, wanted := splitVolumes(args)
	disk, err := openImages(images)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	all, err := fileSystems(disk, fs, wanted)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriter(w)
	for i := range all {
		if ev, err := dumpFileSystem(out, &all[i], records); ev != nil || err != nil {
			return ev, errors.Join(err, out.Flush())
		}
	}
	return nil, out.Flush()
}

// dumpFileSystem writes one file system, under a heading if it lies on a volume.
func dumpFileSystem(out *bufio.Writer, g *detect.Group, records bool) (*guard.Event, error) {
	if len(g.Volumes) > 0 {
		heading := "volume %s: %s\n"
		if records {
			heading = "%% " + heading // a comment in a rule file
		}
		fmt.Fprintf(out, heading, g.Volumes[0].Path, g.FS)
	}
	name, obs, err := detect.Image(g.Disk, g.FS)
	if err != nil {
		return nil, err
	}
	g.OnDisks(&obs)
	if obs.Unknown != nil {
		return nil, obs.Unknown
	}
	if obs.Txn == nil {
		return &guard.Event{FS: name, Kind: guard.KindImage, Generation: obs.Generation,
			Outcome: change.Violated, Violations: obs.Violations}, nil
	}
	for _, r := range obs.Txn.Records {
		if records {
			fmt.Fprintf(out, "%s.\n", obs.Txn.Schema.RecordText(r, obs.Txn.Names))
		} else {
			dumpField(out, obs.Txn, r)
		}
	}
	return nil, nil
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
