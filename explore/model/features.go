package model

import (
	"fmt"
	"slices"
)

// A Feature is something that some file systems have. The model lets its operations fail as Linux
// does where the feature is missing.
type Feature string

// The features.
const (
	Nodes       Feature = "nodes"      // mknod(2)
	Tmpfile     Feature = "tmpfile"    // O_TMPFILE
	Direct      Feature = "direct"     // O_DIRECT
	Whiteout    Feature = "whiteout"   // RENAME_WHITEOUT
	ACL         Feature = "acl"        // POSIX access control lists
	ZeroRange   Feature = "zero_range" // FALLOC_FL_ZERO_RANGE
	Shift       Feature = "shift"      // FALLOC_FL_COLLAPSE_RANGE and FALLOC_FL_INSERT_RANGE
	Reflink     Feature = "reflink"    // FICLONERANGE and FIDEDUPERANGE
	Times       Feature = "times"      // times of all changes, as exact as the kernel's clock
	Full        Feature = "full"       // it can be used when it is full
	Inodes      Feature = "inodes"     // it has few inodes, and can be used when none is free
	FileFlags   Feature = "flags"      // flags of files and directories, as chattr(1) sets them
	Subvolumes  Feature = "subvolumes" // subvolumes and snapshots of Btrfs
	FileExtents Feature = "fiemap"     // FS_IOC_FIEMAP lists the extents of a file
)

var features = []Feature{Nodes, Tmpfile, Direct, Whiteout, ACL, ZeroRange, Shift, Reflink, Times,
	Full, Inodes, FileFlags, Subvolumes, FileExtents}

// Has reports whether the file system has a feature.
func (p Promises) Has(f Feature) bool { return slices.Contains(p.Features, f) }

// Check returns an error if a feature is unknown.
func (p Promises) Check() error {
	for _, f := range p.Features {
		if !slices.Contains(features, f) {
			return fmt.Errorf("there is no feature %q; there are %v", f, features)
		}
	}
	return nil
}
