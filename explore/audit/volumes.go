package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore/crash"
	"fsward/explore/oracle"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Volume says whether a volume of a disk with a table is audited.
type Volume struct {
	Volume string `json:"volume"` // "p2" for a partition, "vg/lv" for a logical volume
	FS     string `json:"fs,omitempty"`
	// NotAudited is why the volume is not audited, or from where on; "" if it is.
	NotAudited string `json:"not_audited,omitempty"`
}

// A part is a file system that is audited.
type part struct {
	path, fs string
	oracle   *oracle.Oracle
}

// open finds the volumes of the base, and begins to form states.
func (a *Auditor) open(ctx context.Context) error {
	contents, err := detect.ReadContents(a.Base, a.FS)
	if err != nil {
		return err
	}
	maker := oracle.NewMaker(a.Oracle)
	a.parts, a.tables, a.sum.Volumes = nil, nil, nil
	if !contents.Divided() && a.Volume == "" {
		o, err := maker.New(ctx, a.FS, a.Base)
		if err != nil {
			return err
		}
		a.parts = []*part{{fs: o.FS(), oracle: o}}
	} else if err := a.openVolumes(ctx, maker, contents); err != nil {
		return err
	}
	var names []string
	for _, p := range a.parts {
		if !slices.Contains(names, p.fs) {
			names = append(names, p.fs)
		}
	}
	a.sum.FS = strings.Join(names, ",")
	a.states = crash.New(a.Base, a.Crash)
	return nil
}

// openVolumes begins the audit of each volume that can be audited. It is an error if there is none.
func (a *Auditor) openVolumes(ctx context.Context, maker *oracle.Maker,
	contents *detect.Contents) error {
	var errs []error
	for _, g := range contents.Groups() {
		path := g.Volumes[0].Path
		if a.Volume != "" && a.Volume != path {
			continue
		}
		v := Volume{Volume: path, FS: g.FS}
		o, err := openVolume(ctx, maker, &g, a.Base)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			v.NotAudited = err.Error()
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		default:
			a.parts = append(a.parts, &part{path, o.FS(), o})
		}
		a.sum.Volumes = append(a.sum.Volumes, v)
	}
	switch {
	case len(a.parts) == 0 && len(errs) > 0:
		return fmt.Errorf("no volume can be audited: %w", errors.Join(errs...))
	case len(a.parts) == 0:
		return fmt.Errorf("there is no volume %s", a.Volume)
	}
	a.tables = contents.InTable
	return nil
}

// openVolume returns the oracle of a volume of a disk.
func openVolume(ctx context.Context, maker *oracle.Maker, g *detect.Group,
	disk interp.Disk) (*oracle.Oracle, error) {
	w, err := windowOf(g)
	if err != nil {
		return nil, err
	}
	return maker.NewIn(ctx, g.FS, disk, w)
}

// windowOf returns the part of its disk that a volume with a file system has.
func windowOf(g *detect.Group) (oracle.Window, error) {
	switch {
	case g.Err != nil:
		return oracle.Window{}, g.Err
	case g.FS == "" && g.Reason == "":
		return oracle.Window{}, errors.New("it is blank")
	case g.FS == "":
		return oracle.Window{}, errors.New(g.Reason)
	case len(g.Volumes) > 1:
		return oracle.Window{}, fmt.Errorf("its file system has %d volumes", len(g.Volumes))
	}
	size := g.Volumes[0].Size
	at, n := g.Place(0)
	if n < size {
		return oracle.Window{}, errors.New("it lies in several places on the disk")
	}
	return oracle.Window{Off: at, Size: size}, nil
}

// OneVolume returns the file system on a disk, and the part of the disk that has it. volume is that
// of Config. It is an error if the disk has several volumes and none is named.
func OneVolume(disk interp.Disk, fs, volume string) (string, oracle.Window, error) {
	contents, err := detect.ReadContents(disk, fs)
	if err != nil {
		return "", oracle.Window{}, err
	}
	if !contents.Divided() && volume == "" {
		if fs == detect.Auto {
			fs, _, err = detect.BaseState(disk, fs)
		}
		return fs, oracle.Window{}, err
	}
	var names []string
	for _, g := range contents.Groups() {
		name := g.Volumes[0].Path
		if name == volume {
			w, err := windowOf(&g)
			return g.FS, w, err
		}
		names = append(names, name)
	}
	return "", oracle.Window{}, fmt.Errorf("name one volume as IMG:VOLUME; the disk has %s",
		strings.Join(names, ", "))
}

// tablesWritten notes that a table was written: a volume may have moved, so that nothing that
// follows is said about it.
func (a *Auditor) tablesWritten(p Place) {
	why := fmt.Sprintf("entry %d of %s writes to the table of volumes: nothing after it is audited",
		p.Entry, p.Log)
	for i := range a.sum.Volumes {
		if v := &a.sum.Volumes[i]; v.NotAudited == "" {
			v.NotAudited = why
		}
	}
	a.undecided([]string{why})
	a.parts, a.tables = nil, nil
}

// fsOf returns the file system of a volume.
func (a *Auditor) fsOf(path string) string {
	for _, p := range a.parts {
		if p.path == path {
			return p.fs
		}
	}
	return ""
}
