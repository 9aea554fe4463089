package offline

import (
	"fmt"

	"fsward/interp"
	"fsward/interp/detect"
)

// A VolumeAlterables lists what can be altered on a volume.
type VolumeAlterables struct {
	Volume string // "" for a whole disk, or if no image was given
	FS     string
	List   []interp.Alterable
}

// Alterables lists what CorruptImages can alter on each volume of images, IMG for all volumes or
// IMG:VOLUME for one. Without images it lists what can be altered in the file system fs; Auto is
// Btrfs.
func Alterables(args []string, fs string) ([]VolumeAlterables, error) {
	if len(args) == 0 {
		if fs == detect.Auto {
			fs = "btrfs"
		}
		list := detect.Alterables(fs)
		if list == nil {
			return nil, fmt.Errorf("file system %q cannot be altered", fs)
		}
		return []VolumeAlterables{{FS: fs, List: list}}, nil
	}
	images, wanted := splitVolumes(args)
	disks, err := openImages(images)
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	all, err := fileSystems(disks, fs, wanted)
	if err != nil {
		return nil, err
	}
	var out []VolumeAlterables
	for _, g := range all {
		name, err := detect.Name(g.Disk, g.FS)
		if err != nil {
			return nil, err
		}
		v := VolumeAlterables{FS: name, List: detect.Alterables(name)}
		if len(g.Volumes) > 0 {
			v.Volume = g.Volumes[0].Path
		}
		out = append(out, v)
	}
	return out, nil
}
