package main

import (
	"maps"
	"slices"
	"strings"
)

// mixed has all operations but large.
var mixed = []weighted{
	{"create", 12, create},
	{"write", 10, overwrite},
	{"append", 8, appendTo},
	{"direct", 3, direct},
	{"mmap", 2, mapped},
	{"truncate", 5, truncate},
	{"read", 2, read},
	{"fallocate", 5, fallocate},
	{"clone", 4, clone},
	{"copy range", 2, copyRange},
	{"mkdir", 6, mkdir},
	{"rmdir", 2, rmdir},
	{"remove tree", 1, rmTree},
	{"unlink", 8, unlink},
	{"unlink open", 2, unlinkOpen},
	{"rename", 5, rename},
	{"rename folder", 3, renameFolder},
	{"rename with flags", 2, renameFlags},
	{"link", 4, link},
	{"link often", 1, linkOften},
	{"unlink often", 1, unlinkOften},
	{"symlink", 3, symlink},
	{"mknod", 2, mknod},
	{"tmpfile", 2, unnamed},
	{"setxattr", 4, setxattr},
	{"removexattr", 2, removexattr},
	{"acl", 2, acl},
	{"chmod", 2, chmod},
	{"chown", 1, chown},
	{"utimes", 2, touch},
	{"chattr", 2, chattr},
	{"cut inline", 1, cutInline},
	{"verity", 1, verity},
	{"fsync", 3, fsync},
	{"fdatasync", 2, fdatasync},
	{"O_SYNC", 1, durable},
	{"fsync folder", 1, fsyncFolder},
	{"syncfs", 1, syncfs},
}

// profiles has the operations of each kind of load, by its name.
var profiles = map[string][]weighted{
	"mixed": mixed,
	// Each of these four makes a commit or, on Btrfs, a log commit.
	"fsync": append(slices.Clone(mixed), weighted{"fsync", 60, fsync}, weighted{"O_SYNC", 30, durable},
		weighted{"fdatasync", 20, fdatasync}, weighted{"fsync folder", 10, fsyncFolder}),
	"sync": append(slices.Clone(mixed), weighted{"syncfs", 40, syncfs}),
	"names": append(slices.Clone(mixed), weighted{"link often", 20, linkOften},
		weighted{"unlink often", 12, unlinkOften}, weighted{"rename", 40, rename},
		weighted{"create", 40, create}, weighted{"mkdir", 20, mkdir}, weighted{"syncfs", 6, syncfs}),
	"inline": {{"cut inline", 60, cutInline}, {"syncfs", 5, syncfs}},
	"verity": append(slices.Clone(mixed), weighted{"verity", 60, verity},
		weighted{"create", 60, create}, weighted{"syncfs", 6, syncfs}),
	"space": append(slices.Clone(mixed), weighted{"fallocate", 60, fallocate},
		weighted{"write", 60, overwrite}, weighted{"large", 60, large}, weighted{"syncfs", 6, syncfs}),
}

// profileNames lists the names for the help text.
func profileNames() string { return strings.Join(slices.Sorted(maps.Keys(profiles)), ", ") }
