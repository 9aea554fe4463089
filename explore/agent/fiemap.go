package agent

import (
	"io"
	"os"
	"runtime"

	"github.com/dennwc/ioctl"
	"golang.org/x/sys/unix"
)

// Fiemap compares the contents of a regular file with its extents, which FS_IOC_FIEMAP lists with
// FIEMAP_FLAG_SYNC. Value is one more than the offset of the first byte other than zero that is in
// no extent, or in one that is not written; 0: there is none. It fails with EINVAL for what is no
// regular file, and with EOPNOTSUPP if the file system has no extents.
func Fiemap(path string) Op { return Op{Code: opFiemap, s: path} }

// A fileExtent is struct fiemap_extent of linux/fiemap.h.
type fileExtent struct {
	Logical, Physical, Length uint64
	_                         [2]uint64
	Flags                     uint32
	_                         [3]uint32
}

// A fileMap is struct fiemap.
type fileMap struct {
	Start, Length               uint64
	Flags, Mapped, Count, Spare uint32
	Extents                     [64]fileExtent
}

// getFileMap is FS_IOC_FIEMAP. Its size is that of struct fiemap without the extents.
var getFileMap = ioctl.IOWR('f', 11, 32)

// Flags of struct fiemap and of struct fiemap_extent.
const (
	syncBefore      = 1 << 0  // FIEMAP_FLAG_SYNC
	lastExtent      = 1 << 0  // FIEMAP_EXTENT_LAST
	unwrittenExtent = 1 << 11 // FIEMAP_EXTENT_UNWRITTEN
)

// unmapped performs Fiemap. stop reports whether time is up.
func unmapped(path string, stop func() bool) (value uint64, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, unix.EINVAL
	}
	f, err := os.OpenFile(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NOATIME, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	holes, at := holeReader{}, uint64(0)
	read := func(to uint64) error { // the bytes up to an offset are zeros
		to = min(to, uint64(st.Size))
		if to <= at {
			return nil
		}
		holes.at = int64(at)
		_, err := io.Copy(&holes, io.NewSectionReader(f, int64(at), int64(to-at)))
		at = to
		return err
	}
	for more := true; more && holes.found == 0; {
		var list []fileExtent
		if list, more, err = extentsOf(f, at); err != nil {
			return 0, err
		}
		for _, e := range list {
			end := e.Logical + e.Length
			if e.Flags&unwrittenExtent != 0 {
				err = read(end)
			} else {
				err = read(e.Logical)
				at = max(at, end)
			}
			if err != nil {
				return 0, err
			}
		}
		if stop() {
			return 0, unix.ETIMEDOUT
		}
	}
	err = read(uint64(st.Size))
	return holes.found, err
}

// extentsOf returns extents of a file from an offset on, and whether more may follow them.
func extentsOf(f *os.File, from uint64) (list []fileExtent, more bool, err error) {
	args := &fileMap{Start: from, Length: ^uint64(0) - from, Flags: syncBefore}
	args.Count = uint32(len(args.Extents))
	err = ioctl.Do(f, getFileMap, args)
	runtime.KeepAlive(args)
	if err != nil {
		return nil, false, err
	}
	list = args.Extents[:min(args.Mapped, args.Count)]
	if n := len(list); n > 0 {
		last := list[n-1]
		more = last.Flags&lastExtent == 0 && last.Logical+last.Length > from
	}
	return list, more, nil
}
