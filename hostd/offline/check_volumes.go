package offline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
)

// CheckVolumes checks all volumes on the images of a guest's disks, and the tables that divide
// them. Images are IMG for all volumes or IMG:VOLUME for one. It calls report for each volume, and
// returns the worst verdict. The error is interp.ErrNotFound if no volume has a file system that
// is known.
func CheckVolumes(ctx context.Context, args []string, cfg CheckConfig,
	tell func(*guard.Progress), report func(*guard.Event)) (change.Outcome, error) {
	images, wanted := splitVolumes(args)
	disks, err := openImages(images)
	if err != nil {
		return change.Undecided, err
	}
	defer disks.Close()
	contents, err := detect.ReadContents(disks, cfg.FS)
	if err != nil {
		return change.Undecided, err
	}
	check := imageCheck{images: images, cfg: cfg, tell: tell}
	if !contents.Divided() && len(wanted) == 0 {
		ev, err := check.run(ctx, &detect.Group{FS: cfg.FS, Disk: disks})
		if err != nil {
			return change.Undecided, named(err, contents)
		}
		report(ev)
		return ev.Outcome, nil
	}
	c := &volumesCheck{imageCheck: check, report: report, wanted: wanted, worst: change.Holds}
	return c.all(ctx, contents)
}

// named adds the contents of the disks to the error that no file system was found.
func named(err error, contents *detect.Contents) error {
	if !errors.Is(err, interp.ErrNotFound) {
		return err
	}
	for _, g := range contents.Groups() {
		if g.Reason != "" {
			return fmt.Errorf("%w: the disk holds: %s", err, g.Reason)
		}
	}
	return fmt.Errorf("%w: the disk is blank", err)
}

// volumesCheck checks the volumes of divided disks.
type volumesCheck struct {
	imageCheck
	report func(*guard.Event)
	wanted map[string]bool
	worst  change.Outcome
}

func (c *volumesCheck) all(ctx context.Context,
	contents *detect.Contents) (change.Outcome, error) {
	if len(c.wanted) == 0 {
		if err := c.tables(ctx, contents); err != nil {
			return change.Undecided, err
		}
	}
	checked, found := 0, make(map[string]bool)
	for _, g := range contents.Groups() {
		first := g.Volumes[0]
		for _, v := range g.Volumes {
			found[v.Path] = true
		}
		if len(c.wanted) > 0 && !c.wanted[first.Path] {
			continue
		}
		state := &detect.VolumeState{FS: g.FS, Reason: g.Reason}
		ev := &guard.Event{Kind: guard.KindImage, Outcome: change.Holds,
			State: guard.ContentText(state)}
		switch {
		case g.Err != nil:
			ev = &guard.Event{Kind: guard.KindImage, Outcome: change.Undecided,
				Undecided: []string{g.Err.Error()}}
			checked++
		case g.FS != "":
			var err error
			if ev, err = c.run(ctx, &g); err != nil {
				ev = &guard.Event{Kind: guard.KindImage, FS: g.FS, Outcome: change.Undecided,
					Undecided: []string{err.Error()}}
			}
			checked++
		}
		ev.Disk, ev.Volume = diskName(c.images[first.Disk]), first.Path
		c.add(ev)
	}
	for v := range c.wanted {
		if !found[v] {
			return change.Undecided, noVolume(v, contents)
		}
	}
	if checked == 0 {
		return change.Undecided, fmt.Errorf("%w on any volume", interp.ErrNotFound)
	}
	return c.worst, nil
}

// tables checks the tables by the rules about volumes.
func (c *volumesCheck) tables(ctx context.Context, contents *detect.Contents) error {
	rules, err := c.load()
	if err != nil {
		return err
	}
	obs, err := contents.Tables()
	if err != nil {
		return err
	}
	ev := guard.CheckImage(ctx, rules, "volume", obs, 0, func(i int) string { return c.images[i] })
	ev.Disk = diskName(c.images[0])
	c.add(ev)
	return nil
}

func (c *volumesCheck) add(ev *guard.Event) {
	c.report(ev)
	if ev.Outcome == change.Violated || c.worst == change.Holds {
		c.worst = ev.Outcome
	}
}

// diskName returns the name of a disk by its image, as guard gives it.
func diskName(image string) string {
	return strings.TrimSuffix(filepath.Base(image), filepath.Ext(image))
}
