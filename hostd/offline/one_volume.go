package offline

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/interp/detect"
)

// SplitVolume splits IMG:VOLUME. The name of a file that exists is no volume.
func SplitVolume(arg string) (image, volume string) {
	if _, err := os.Stat(arg); err == nil {
		return arg, ""
	}
	at := strings.LastIndexByte(arg, ':')
	if at < 0 || strings.Contains(arg, "://") {
		return arg, ""
	}
	return arg[:at], arg[at+1:]
}

// splitVolumes splits several IMG:VOLUME. No wanted volume means all.
func splitVolumes(args []string) (images []string, wanted map[string]bool) {
	wanted = make(map[string]bool)
	for _, arg := range args {
		image, volume := SplitVolume(arg)
		images = append(images, image)
		if volume != "" {
			wanted[volume] = true
		}
	}
	return images, wanted
}

// splitBases splits the volume from the bases of recorded disks; "" means all volumes.
func splitBases(disks []ReplayDisk) (out []ReplayDisk, volume string, err error) {
	for _, d := range disks {
		image, one := SplitVolume(d.Base)
		if one != "" && volume != "" && one != volume {
			return nil, "", fmt.Errorf("the bases name the volumes %s and %s: name only one", volume, one)
		}
		if one != "" {
			volume = one
		}
		d.Base = image
		out = append(out, d)
	}
	return out, volume, nil
}

// fileSystems returns the file systems on the wanted volumes of disks; a nil wanted means all.
// Without a table and without wanted, the disks as a whole hold one file system.
func fileSystems(d interp.Disk, fs string, wanted map[string]bool) ([]detect.Group, error) {
	contents, err := detect.ReadContents(d, fs)
	if err != nil {
		return nil, err
	}
	if !contents.Divided() && len(wanted) == 0 {
		return []detect.Group{{FS: fs, Disk: d}}, nil
	}
	var all []detect.Group
	left := make(map[string]bool)
	for v := range wanted {
		left[v] = true
	}
	for _, g := range contents.Groups() {
		requested := false
		for _, v := range g.Volumes {
			requested = requested || wanted[v.Path]
			delete(left, v.Path)
		}
		if g.Err != nil && (requested || len(wanted) == 0) {
			return nil, onVolume(g.Volumes[0].Path, g.Err)
		}
		if requested && g.FS == "" {
			return nil, fmt.Errorf("%w on %s: it holds %s", interp.ErrNotFound, g.Volumes[0].Path,
				contentOf(&g))
		}
		if g.FS != "" && (requested || len(wanted) == 0) {
			all = append(all, g)
		}
	}
	for v := range left {
		return nil, noVolume(v, contents)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w on any volume", interp.ErrNotFound)
	}
	return all, nil
}

// noVolume returns an error that lists the volumes of the disks, which v is not among.
func noVolume(v string, contents *detect.Contents) error {
	if !contents.Divided() {
		return fmt.Errorf("there is no volume %s: the disk has neither partitions nor logical volumes", v)
	}
	var paths []string
	for _, g := range contents.Groups() {
		for _, volume := range g.Volumes {
			paths = append(paths, volume.Path)
		}
	}
	slices.Sort(paths)
	return fmt.Errorf("there is no volume %s; the volumes are %s", v, strings.Join(paths, ", "))
}

func contentOf(g *detect.Group) string {
	if g.Reason == "" {
		return "nothing"
	}
	return g.Reason
}
