package oracle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"golang.org/x/sys/unix"

	"fsward/explore/crash"
	"fsward/interp"
)

// maxContents bounds a file whose contents are compared, in bytes. A larger one is left out.
const maxContents = 64 << 20

// zeros is what a hole is read as.
var zeros [64 << 10]byte

// Contents is what is known of the contents of a file.
type Contents struct {
	Known bool              // Sum is that of the contents
	Sum   [sha256.Size]byte // SHA-256
	// Damage says why the contents of the commit are not on the disk, so that no recovery can give
	// them; "": they are there, or it is not known.
	Damage string
	// Left says why fsward does not know the contents; "" if Known, or for Damage.
	Left   string
	placed []placedPiece
}

// A placedPiece is a piece of a file in its place on the disk.
type placedPiece struct{ off, addr uint64 }

// readContents reads the contents of all regular files. Names of one inode share it.
func (c *Committed) readContents(files interp.Files) error {
	known := make(map[node]*Contents)
	for i := range c.Entries {
		f := &c.Entries[i]
		if f.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		at := node{f.tree, f.Inode}
		if known[at] == nil {
			one, err := contentsOf(files, f)
			if err != nil {
				return err
			}
			known[at] = one
		}
		f.Contents = *known[at]
	}
	return nil
}

// contentsOf reads the contents of a file.
func contentsOf(files interp.Files, f *File) (*Contents, error) {
	if f.Size > maxContents {
		return &Contents{Left: "it is too large"}, nil
	}
	c := &Contents{Known: true}
	sum := sha256.New()
	err := files.Contents(f.tree, f.Inode, f.Size, func(p interp.Piece) error {
		if p.Placed {
			c.placed = append(c.placed, placedPiece{p.Off, p.Addr})
		}
		return addPiece(sum, p)
	})
	var unknown *interp.ContentsError
	switch {
	case errors.As(err, &unknown) && unknown.Damaged:
		return &Contents{Damage: unknown.Reason}, nil
	case errors.As(err, &unknown):
		return &Contents{Left: unknown.Reason}, nil
	case err != nil:
		return nil, err
	}
	sum.Sum(c.Sum[:0])
	return c, nil
}

// addPiece adds a piece of a file to a sum.
func addPiece(sum hash.Hash, p interp.Piece) (err error) {
	for n := p.Len; p.Data == nil && n > 0 && err == nil; {
		part := min(n, uint64(len(zeros)))
		_, err = sum.Write(zeros[:part])
		n -= part
	}
	if p.Data != nil {
		_, err = sum.Write(p.Data)
	}
	return err
}

// MarkUnwritten finds the data that the last commit names and that never reached the disk of a
// crash state: no write of the log is there, and no file had that place before the log. A file
// system that writes data before the metadata leaves none. before is called if such data may be
// there. It returns the files before the log; nil: they are not known.
func (c *Committed) MarkUnwritten(d *crash.Disk, before func() *Committed) {
	var earlier map[uint64]bool // the places of data before the log
	for i := range c.Entries {
		f := &c.Entries[i]
		for _, p := range f.placed {
			if d.Written(p.addr) {
				continue
			}
			if earlier == nil {
				b := before()
				if b == nil {
					return
				}
				earlier = b.places()
			}
			if !earlier[p.addr] {
				f.Known, f.Damage = false, fmt.Sprintf(
					"the commit names the data of byte %d at %d of the disk, where nothing was written yet",
					p.off, p.addr)
				break
			}
		}
	}
}

// places returns the addresses of all data that is in its place.
func (c *Committed) places() map[uint64]bool {
	out := make(map[uint64]bool)
	for _, f := range c.Entries {
		for _, p := range f.placed {
			out[p.addr] = true
		}
	}
	return out
}
