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
// volumes are written, each under a heading. A file system whose structure is violated cannot be
// written: broken has an event with its violations.
func Dump(w io.Writer, args []string, fs string, records bool) (broken []*guard.Event, err error) {
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
	var errs []error
	for i := range all {
		ev, err := dumpFileSystem(out, &all[i], records)
		if len(all[i].Volumes) > 0 {
			err = onVolume(all[i].Volumes[0].Path, err)
		}
		if errs = append(errs, err); ev != nil {
			broken = append(broken, ev)
		}
	}
	return broken, errors.Join(append(errs, out.Flush())...)
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
		ev := &guard.Event{FS: name, Kind: guard.KindImage, Generation: obs.Generation,
			Outcome: change.Violated, Violations: obs.Violations}
		if len(g.Volumes) > 0 {
			ev.Volume = g.Volumes[0].Path
		}
		return ev, nil
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
