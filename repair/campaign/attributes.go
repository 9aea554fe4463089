package campaign

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/interp"
	"fsward/repair/linux"
	"fsward/repair/testimage"
	"fsward/repair/tree"
)

// What a repair can recover are values by attribute of a file, such as "/d/f1 size".

// truth returns the attributes of the files of an image without damage.
func (c *checks) truth(base *testimage.Image) (map[string]string, error) {
	if !slices.Contains(linux.FileSystems(), c.fs) {
		return readAttributes(base, c.fs)
	}
	if err := c.needView(base); err != nil {
		return nil, err
	}
	return viewed(c.view), nil
}

// readAttributes reads the files of an image without Linux. exFAT has no permissions and no links.
func readAttributes(disk interp.Disk, fs string) (map[string]string, error) {
	files, err := tree.Read(disk, fs)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for name, f := range files {
		list[name+" type"] = kind(f.Mode)
		if fs != "exfat" {
			list[name+" mode"] = strconv.FormatUint(uint64(f.Mode), 8)
			list[name+" owner"] = fmt.Sprintf("%d:%d", f.UID, f.GID)
			list[name+" device"] = strconv.FormatUint(f.Device, 16)
		}
		if f.Mode&unix.S_IFMT != unix.S_IFDIR {
			list[name+" size"] = strconv.FormatUint(f.Size, 10)
			list[name+" content"] = fmt.Sprintf("%x", f.Content)
		}
	}
	return list, nil
}

// kind returns the type of a file in its mode.
func kind(mode uint32) string { return strconv.FormatUint(uint64(mode&unix.S_IFMT), 8) }

// viewed returns the attributes of the files of a view.
func viewed(v *linux.View) map[string]string {
	list := map[string]string{}
	for i := range v.Files {
		f := &v.Files[i]
		if f.Errno != 0 {
			continue
		}
		for what, value := range values(f) {
			list[path.Join("/", f.Path)+" "+what] = value
		}
	}
	return list
}

// values returns the attributes of a file. The size of a directory is the file
// system's own affair.
func values(f *agent.Entry) map[string]string {
	list := map[string]string{"mode": strconv.FormatUint(uint64(f.Mode), 8), "type": kind(f.Mode),
		"links": strconv.FormatUint(f.Links, 10),
		"owner": fmt.Sprintf("%d:%d", f.UID, f.GID), "content": fmt.Sprintf("%x", f.Sum),
		"target": f.Target, "device": strconv.FormatUint(f.Rdev, 16)}
	if f.Mode&unix.S_IFMT != unix.S_IFDIR {
		list["size"] = strconv.FormatUint(f.Size, 10)
	}
	return list
}
