package model

import "slices"

// Promises are the guarantees of a file system about the state after a crash, and the features that
// it lacks. The zero value has all features, and promises what POSIX.1-2017 and Linux's manual
// pages promise of every file system:
//
//   - fsync(2), fdatasync(2) and writes through O_SYNC and O_DSYNC make the file's data durable,
//     with the metadata that reading them needs. fsync and O_SYNC also make its mode, owner and
//     attributes durable (POSIX, 3.384 and 3.385, "synchronized I/O file/data integrity
//     completion"). "Calling fsync() does not necessarily ensure that the entry in the directory
//     containing the file has also reached disk. For that an explicit fsync() on a file descriptor
//     for the directory is also needed." (fsync(2))
//   - sync(2) and syncfs(2): "Linux waits for I/O completions, and thus sync() or syncfs() provide
//     the same guarantees as fsync() called on every file in the system or filesystem
//     respectively." (sync(2); POSIX allows sync to return earlier)
//   - msync(2) with MS_SYNC makes the data of its range durable: it "shall not return until all
//     write operations are completed as defined for synchronized I/O data integrity completion"
//     (POSIX, msync).
//
// Data and metadata that were not synchronized are promised only this much: a name refers to an
// inode that it once referred to, or to none, and a range of a file that no later operation wrote
// holds its old data.
type Promises struct {
	// FsyncNames: fsync of a file that has changed also makes its names and their directories durable.
	// Btrfs (btrfs_log_inode_parent, btrfs_log_new_ancestors; not after skip_inode_logging), F2FS
	// (need_do_checkpoint).
	FsyncNames bool `yaml:"fsync_names"`
	// Ordered: changes of names, modes, sizes and attributes reach the disk in the order of the
	// operations. So fsync of a file makes all operations durable, on any file, up to the file's own
	// last change. Later operations stay volatile: if the file did not change since, its transaction
	// is on the disk already and fsync commits nothing. ext3 and ext4 (ext4_fsync_journal,
	// i_sync_tid; one running transaction, Documentation/filesystems/journalling.rst), XFS
	// (xfs_fsync_flush_log, ili_commit_seq; xfs-delayed-logging-design.rst: "strictly ordered"),
	// ReiserFS, JFS.
	Ordered bool `yaml:"ordered"`
	// FsyncAlone: in an ordered file system, fsync of a file does not make earlier operations
	// durable. If the file's data did not change, fsync writes nothing; otherwise it writes only the
	// data (NILFS2: nilfs_sync_file, nilfs_inode_dirty, order=relaxed). Or names are no part of what
	// fsync commits (OCFS2: ocfs2_rename, ocfs2_unlink).
	FsyncAlone bool `yaml:"fsync_alone"`
	// FsyncEntries: fsync of a directory that has changed also makes the new files in it durable, with
	// the names in it and below. Btrfs (log_new_dir_dentries).
	FsyncEntries bool `yaml:"fsync_entries"`
	// AtomicRename: after a crash a renamed file has exactly one of its two names. All file systems
	// with a journal or copy on write.
	AtomicRename bool `yaml:"atomic_rename"`
	// Data is the possible content of ranges that were written and not synchronized.
	Data Data `yaml:"data"`

	// Sync: mounted with -o sync, "Make writes on this filesystem synchronous (as though the O_SYNC
	// flag to open(2) was specified for all file opens to this filesystem)." (mount(2),
	// MS_SYNCHRONOUS). It implies Dirsync (IS_DIRSYNC in linux/fs.h). No source promises that
	// chmod(2) or ftruncate(2) wait.
	Sync bool `yaml:"sync"`
	// Dirsync: mounted with -o dirsync, "All directory updates within the filesystem should be done
	// synchronously. This affects the following system calls: creat(2), link(2), unlink(2),
	// symlink(2), mkdir(2), rmdir(2), mknod(2) and rename(2)." (mount(8))
	Dirsync bool `yaml:"dirsync"`

	// Own are patterns (path.Match) of names in the root directory that the file system or its fsck
	// creates, in addition to "lost+found". The model ignores these files.
	Own []string `yaml:"own"`

	// Features that the file system lacks: fsync(2) of directories (EINVAL), sync(2) and syncfs(2)
	// (FUSE passes them to no server but virtiofsd: fuse_sync_fs), link(2), symlink(2), its own
	// permissions and owners, extended attributes of users, holes, RENAME_EXCHANGE, fallocate(2),
	// FALLOC_FL_PUNCH_HOLE, numbers of inodes that stay after a mount, capital letters in names, and
	// a repair after a crash, without which the kernel mounts it read-only.
	NoDirFsync  bool `yaml:"no_dir_fsync"`
	NoSync      bool `yaml:"no_sync"`
	NoLinks     bool `yaml:"no_links"`
	NoSymlinks  bool `yaml:"no_symlinks"`
	NoModes     bool `yaml:"no_modes"`
	NoXattrs    bool `yaml:"no_xattrs"`
	NoHoles     bool `yaml:"no_holes"`
	NoExchange  bool `yaml:"no_exchange"`
	NoFallocate bool `yaml:"no_fallocate"`
	NoPunch     bool `yaml:"no_punch"`
	NoNumbers   bool `yaml:"no_numbers"`
	NoCapitals  bool `yaml:"no_capitals"`
	NoRepair    bool `yaml:"no_repair"`

	Features []Feature `yaml:"features"` // that only some file systems have

	// NewFileFlags are flags that each new file has, by a mount option.
	NewFileFlags uint32 `yaml:"new_file_flags"`
}

// Above returns the promises of a layer that passes operations on to a file system: those of the
// file system below, without the features that either of them lacks. p has what the layer lacks,
// the features that it passes on, its own names, and Sync and Dirsync by its mount options.
func (p Promises) Above(below Promises) Promises {
	below.Own = p.Own
	for _, f := range []struct{ of, above *bool }{
		{&below.Sync, &p.Sync}, {&below.Dirsync, &p.Dirsync},
		{&below.NoDirFsync, &p.NoDirFsync}, {&below.NoSync, &p.NoSync}, {&below.NoLinks, &p.NoLinks},
		{&below.NoSymlinks, &p.NoSymlinks}, {&below.NoModes, &p.NoModes},
		{&below.NoXattrs, &p.NoXattrs}, {&below.NoHoles, &p.NoHoles},
		{&below.NoExchange, &p.NoExchange}, {&below.NoFallocate, &p.NoFallocate},
		{&below.NoPunch, &p.NoPunch}, {&below.NoNumbers, &p.NoNumbers},
		{&below.NoCapitals, &p.NoCapitals}, {&below.NoRepair, &p.NoRepair},
	} {
		*f.of = *f.of || *f.above
	}
	below.Features = slices.DeleteFunc(slices.Clone(below.Features),
		func(f Feature) bool { return !p.Has(f) })
	return below
}

// Data limits the content that a crash may leave in ranges of a file that were written and not
// synchronized.
type Data string

// The kinds of Data, from the weakest promise to the strongest.
const (
	// Anything includes earlier content of the disk: POSIX, ext2, FAT, JFS.
	Anything Data = ""
	// Zeros allows zeros, and all data that the range held since the last sync.
	Zeros Data = "zeros"
	// Versions allows only data that the range held since the last sync: ext3 with data=ordered,
	// which has no delayed allocation.
	Versions Data = "exact"
)
