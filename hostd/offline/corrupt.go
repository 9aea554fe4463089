package offline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"fsward/blocktap"
	"fsward/blocktap/qemudisk"
	"fsward/blocktap/trace"
	"fsward/interp"
	"fsward/interp/detect"
)

// CorruptConfig describes an alteration and its place.
type CorruptConfig struct {
	FS   string
	Spec string // the alteration; "" to choose one by Seed
	Pick int    // index among the places where the alteration fits, from 0
	Seed uint64
	All  int // if not 0, make the alteration at all places where it fits, at most All

	// For logs only.
	Commit int      // number of the commit to alter, from 1
	Out    []string // paths of the new logs, one for each disk
}

// Corrupted describes an alteration.
type Corrupted struct {
	Event  string `json:"event"`            // always "corrupted"
	Volume string `json:"volume,omitempty"` // path of the volume; "" for a whole disk
	Spec   string `json:"spec"`
	Pick   int    `json:"pick"`
	Commit int    `json:"commit,omitempty"`
	What   string `json:"what"`
}

// CorruptImages alters a file system on the images of a guest's disks in place, in all copies. An
// image may be IMG:VOLUME. Otherwise the alteration has to fit on one volume alone: the error names
// the volumes if it fits on several. A seed chooses among all volumes.
func CorruptImages(args []string, cfg CorruptConfig) (*Corrupted, error) {
	images, wanted := splitVolumes(args)
	var disks []blocktap.Disk
	var set []interp.Disk
	for _, image := range images {
		disk, err := qemudisk.Open(context.Background(), image, qemudisk.Options{})
		if err != nil {
			return nil, err
		}
		defer disk.Close()
		disks, set = append(disks, disk), append(set, disk)
	}
	whole, err := interp.NewSet(set...)
	if err != nil {
		return nil, err
	}
	all, err := fileSystems(whole, cfg.FS, wanted)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(images, " "), err)
	}
	g, out, c, err := cfg.corruptOne(all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	for _, p := range c.Patches {
		if err := writePatch(disks, g, p); err != nil {
			return nil, err
		}
	}
	for _, d := range disks {
		err = errors.Join(err, d.Flush())
	}
	return out, err
}

// corruptOne makes the alteration of Spec on the one file system where it fits, or a random one.
func (cfg CorruptConfig) corruptOne(all []detect.Group) (g *detect.Group, out *Corrupted,
	c interp.Corruption, err error) {
	if cfg.Spec == "" {
		n := rand.New(rand.NewPCG(cfg.Seed, 1)).IntN(len(all))
		all = all[n : n+1]
	}
	var fits []string
	var errs []error
	for i := range all {
		one := cfg
		one.FS = all[i].FS
		volume := ""
		if len(all[i].Volumes) > 0 {
			volume = all[i].Volumes[0].Path
		}
		made, patches, err := one.corrupt(all[i].Disk, false)
		if err != nil {
			errs = append(errs, onVolume(volume, err))
			continue
		}
		made.Volume = volume
		g, out, c = &all[i], made, patches
		fits = append(fits, volume)
	}
	switch {
	case len(fits) == 0:
		return nil, nil, c, errors.Join(errs...)
	case len(fits) > 1:
		return nil, nil, c, fmt.Errorf("%s fits on the volumes %s: name one, as in IMG:%s", cfg.Spec,
			strings.Join(fits, ", "), fits[0])
	}
	return g, out, c, nil
}

// writePatch writes a patch of a file system to the places on the disks where it belongs.
func writePatch(disks []blocktap.Disk, g *detect.Group, p interp.Patch) error {
	for data, at := p.Data, p.Off; len(data) > 0; {
		addr, n := g.Place(at)
		if n == 0 {
			return fmt.Errorf("address %d lies outside the volume", at)
		}
		n = min(n, uint64(len(data)))
		disk, off := interp.Locate(addr)
		if _, err := disks[disk].WriteAt(data[:n], int64(off)); err != nil {
			return err
		}
		data, at = data[n:], at+n
	}
	return nil
}

// CorruptLogs copies the logs of a guest's disks and alters one commit in the copies. It alters
// only what the commit's transaction wrote.
func CorruptLogs(ctx context.Context, disks []ReplayDisk,
	cfg CorruptConfig) (out *Corrupted, err error) {
	if len(cfg.Out) != len(disks) {
		return nil, fmt.Errorf("%d logs and %d new logs: give one --out for each log", len(disks),
			len(cfg.Out))
	}
	var recordings []*trace.Writer
	for _, path := range cfg.Out {
		w, err := trace.Create(path)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		recordings = append(recordings, w)
	}
	trace.Together(recordings...)
	commits := 0
	err = EachTransaction(ctx, disks, cfg.FS, func(t *Transaction) error {
		commits = max(commits, t.Commit)
		requests := t.Requests
		if t.Commit == cfg.Commit && t.After != nil {
			var c interp.Corruption
			var err error
			cfg.FS = t.FS
			if out, c, err = cfg.corrupt(t.After, true); err != nil {
				return fmt.Errorf("commit %d: %w", t.Commit, onVolume(t.Volume, err))
			}
			out.Volume = t.Volume
			if requests, err = t.Patched(c.Patches); err != nil {
				return err
			}
			out.Commit = t.Commit
		}
		for i := range requests {
			if err := recordings[requests[i].Disk].Log(&requests[i].Request); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%s has %d commits, and no commit %d", disks[0].Log, commits, cfg.Commit)
	}
	return out, err
}

// corrupt makes the alteration of Spec, or a random one.
func (cfg CorruptConfig) corrupt(d interp.Disk, last bool) (*Corrupted, interp.Corruption, error) {
	corrupter, err := detect.Corrupter(d, cfg.FS, last)
	if err != nil {
		return nil, interp.Corruption{}, err
	}
	if cfg.All > 0 {
		c, err := corrupter.CorruptAll(cfg.Spec, cfg.All)
		return &Corrupted{Event: "corrupted", Spec: cfg.Spec, What: c.What}, c, err
	}
	if cfg.Spec != "" {
		c, err := corrupter.Corrupt(cfg.Spec, cfg.Pick)
		return &Corrupted{Event: "corrupted", Spec: cfg.Spec, Pick: cfg.Pick, What: c.What}, c, err
	}
	name, err := detect.Name(d, cfg.FS)
	if err != nil {
		return nil, interp.Corruption{}, err
	}
	const attempts = 10_000
	rng := rand.New(rand.NewPCG(cfg.Seed, 0))
	all := detect.Alterables(name)
	for range attempts {
		spec, pick := randomSpec(rng, all), rng.IntN(8)
		c, err := corrupter.Corrupt(spec, pick)
		if !errors.Is(err, interp.ErrNoPlace) {
			return &Corrupted{Event: "corrupted", Spec: spec, Pick: pick, What: c.What}, c, err
		}
	}
	return nil, interp.Corruption{}, interp.ErrNoPlace
}

// randomSpec chooses an alteration of a field or an action at random.
func randomSpec(rng *rand.Rand, all []interp.Alterable) string {
	a := all[rng.IntN(len(all))]
	if n := rng.IntN(len(a.Fields) + len(a.Actions)); n < len(a.Fields) {
		changes := Changes(a.Fields[n].Width)
		return a.Object + "." + a.Fields[n].Name + changes[rng.IntN(len(changes))]
	}
	return a.Object + "!" + a.Actions[rng.IntN(len(a.Actions))]
}

// Changes lists alterations of a number of width bytes: by one, by a sector, in its highest bit, to
// zero and to all ones.
func Changes(width int) []string {
	list := []string{"+1", "-1", "=0", "=-1", fmt.Sprintf("^%#x", uint64(1)<<(8*width-1))}
	if width >= 4 {
		list = append(list, "+4096", "-4096", "+16384", "+1048576")
	}
	return list
}
