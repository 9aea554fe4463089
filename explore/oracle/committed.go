package oracle

import (
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/detect"
)

// A Committed is the files that recovery must give: those of the last commit that a disk holds
// whole. It is the stable file system of FiSC, computed from the disk after the crash.
type Committed struct {
	Commit  uint64 // sequence number of the transaction (ext3), or generation (Btrfs)
	Entries []File // sorted by depth, then by directory and name
	// Logged says that the disk also has a log of fsync, which recovery replays. It may change the
	// files that Touches reports.
	Logged  bool
	inodes  map[uint64]bool
	renamed map[name]bool
}

// A File is one name of a file, a directory or another inode.
type File struct {
	Path  string // relative to the root, which is "."
	Mode  uint32 // st_mode
	Links uint64
	UID   uint32
	GID   uint32
	Size  uint64 // bytes
	Inode uint64
	// Subvolume is the number of the Btrfs subvolume that numbers the inode; 0: the one at the root,
	// or another file system.
	Subvolume uint64
	Contents
	tree uint64
}

// A name is an entry of a directory.
type name struct {
	dir  uint64 // inode
	text string
}

// Touches reports whether the replay of a log may change an inode, or the entry of a directory that
// names it. dir is the directory's inode. Inodes of all subvolumes that have the number count.
func (c *Committed) Touches(inode, dir uint64, text string) bool {
	return c.inodes[inode] || c.renamed[name{dir, text}]
}

// Bounds of a Committed: its names, and the bytes of a path.
const (
	maxFiles = 32 << 10
	maxPath  = 4096
)

// ReadCommitted reads the files of the last commit on a disk, with the contents of those that are
// not too large. It replays the journal of ext3 in memory. An error means that the files are not
// known: the disk has no sound file system, or one that fsward does not read.
func ReadCommitted(d interp.Disk, fs string) (*Committed, error) {
	fs, obs, err := detect.Image(d, fs)
	switch {
	case err != nil:
		return nil, err
	case len(obs.Violations) > 0:
		return nil, fmt.Errorf("%s: %s", obs.Violations[0].Rule, obs.Violations[0].Detail)
	case obs.Unknown != nil:
		return nil, obs.Unknown
	case obs.Txn == nil:
		return nil, fmt.Errorf("%s: the file system has too many objects", fs)
	}
	words, err := vocabularyOf(obs.Txn.Schema)
	if err != nil {
		return nil, err
	}
	files := newNamespace(words)
	for _, r := range obs.Txn.Records {
		files.add(r, obs.Txn.Names)
	}
	c := &Committed{Commit: obs.Generation, Logged: len(obs.Logs) > 0,
		inodes: make(map[uint64]bool), renamed: make(map[name]bool)}
	for _, p := range obs.Logs {
		if p.Txn == nil {
			return nil, fmt.Errorf("%s: the log has too many objects", fs)
		}
		c.addLog(p.Txn)
	}
	if c.Entries, err = files.list(); err != nil {
		return nil, err
	}
	contents, err := detect.Files(d, fs)
	if err != nil {
		return nil, err
	}
	return c, c.readContents(contents)
}

// addLog adds the inodes and names in one tree of a log.
func (c *Committed) addLog(log *change.Txn) {
	nameField := fieldByName(log.Schema, "name")
	for _, r := range log.Records {
		c.inodes[r.Object.ID] = true
		if r.Field == nameField {
			c.renamed[name{r.Object.Sub, log.Names.Text(r.New)}] = true
		}
	}
}
