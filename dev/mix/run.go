package mix

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// subvolumeIno is the inode number of the root of each subvolume (BTRFS_FIRST_FREE_OBJECTID).
const subvolumeIno = 256

// A world is a mounted file system and the objects in it.
type world struct {
	*rand.Rand
	dir     string
	n       int
	phase   int
	made    int    // number of new names
	hash    uint32 // of the next names that share one
	at      map[string]int64
	dirs    []string
	files   []string
	volumes []string // subvolumes, and snapshots; the first is the root
}

// Run runs a phase of a mixture of size n on the file system that is mounted on dir.
func Run(dir string, m Mixture, phase, n int) error {
	if phase >= len(m.Phases) {
		return fmt.Errorf("no phase %d", phase)
	}
	w := &world{Rand: rand.New(rand.NewPCG(m.Seed, uint64(phase)+1)), dir: dir, n: n, phase: phase,
		at: make(map[string]int64)}
	if err := w.survey(); err != nil {
		return err
	}
	p := m.Phases[phase]
	total := 0
	for _, s := range p.Steps {
		total += s.Weight
	}
	for range n {
		if total == 0 {
			break
		}
		k, i := w.IntN(total), 0
		for ; k >= p.Steps[i].Weight; i++ {
			k -= p.Steps[i].Weight
		}
		s := &p.Steps[i]
		if err := find(ops, s.Op).run(w, s); err != nil && !harmless(err) {
			return fmt.Errorf("%s: %w", s.Op, err)
		}
	}
	for _, name := range p.Once {
		if err := find(onceOps, name).run(w, &Step{On: "one"}); err != nil && !harmless(err) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// survey lists the objects in an order that depends on their names only.
func (w *world) survey() error {
	return filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == "lost+found":
			return filepath.SkipDir
		case e.Type().IsRegular():
			w.files = append(w.files, path)
		case e.IsDir():
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			if st.Ino == subvolumeIno || path == w.dir {
				w.volumes = append(w.volumes, path)
			}
			w.dirs = append(w.dirs, path)
		}
		return nil
	})
}

// harmless reports whether a sound file system may return an error: an object is gone, is of
// another kind, or has no room for more.
func harmless(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOENT, unix.EEXIST, unix.ENOTEMPTY, unix.EISDIR,
		unix.ENOTDIR, unix.ENOSPC, unix.EDQUOT, unix.EINVAL, unix.EOPNOTSUPP, unix.EPERM, unix.EXDEV,
		unix.EMLINK, unix.ENODATA, unix.EFBIG, unix.EBUSY, unix.ETXTBSY, unix.ENAMETOOLONG,
		unix.ERANGE, unix.EOVERFLOW, unix.E2BIG, unix.EROFS},
		func(e error) bool { return errors.Is(err, e) })
}

// choose returns the index of one of length objects, or -1 if there is none.
func (w *world) choose(length int, on string) int {
	switch {
	case length == 0:
		return -1
	case on == "one":
		return 0
	case on == "few":
		return w.IntN(min(length, 16))
	default:
		return w.IntN(length)
	}
}

// file returns the path of a file.
func (w *world) file(on string) (string, error) {
	i := w.choose(len(w.files), on)
	if i < 0 {
		return "", unix.ENOENT
	}
	return w.files[i], nil
}

// folder returns the path of a directory.
func (w *world) folder(on string) string { return w.dirs[w.choose(len(w.dirs), on)] }

// name returns a new name in a directory. With at "hash", 32 names in turn have one hash.
func (w *world) name(s *Step) string {
	w.made++
	text := fmt.Sprintf("p%dn%d", w.phase, w.made)
	if s.At == "hash" {
		const names = 32
		if w.made%names == 1 || w.hash == 0 {
			w.hash = w.Uint32()
		}
		for {
			name := string(withHash(text, w.hash))
			if !strings.ContainsAny(name, "/\x00") {
				text = name
				break
			}
			text += "x"
		}
	}
	return filepath.Join(w.folder(s.On), text)
}

const block = 4096

// offset returns the offset of a block in a file.
func (w *world) offset(path, at string) int64 {
	switch at {
	case "next":
		w.at[path]++
		return (w.at[path] - 1) * block
	case "sparse":
		w.at[path] += 2
		return w.at[path] * block
	default:
		return w.Int64N(int64(4*w.n)) * block
	}
}

// open opens a file for reading and writing, with further flags, and closes it after f.
func open(path string, flags int, f func(fd int) error) error {
	fd, err := unix.Open(path, flags|unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f(fd), unix.Close(fd))
}
