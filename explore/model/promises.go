package model

// Promises are what a file system says of the time after a crash, and what it can do at all. The zero value is a file system
// that can do all and promises what POSIX.1-2017 and Linux's manual pages have of every one:
//
//   - fsync(2), fdatasync(2) and writes through O_SYNC and O_DSYNC: the file's data, and what is needed to read them; fsync and
//     O_SYNC its mode, owner and attributes as well (POSIX, 3.384 and 3.385 "synchronized I/O file/data integrity completion").
//     "Calling fsync() does not necessarily ensure that the entry in the directory containing the file has also reached disk.
//     For that an explicit fsync() on a file descriptor for the directory is also needed." (fsync(2))
//   - sync(2) and syncfs(2): "Linux waits for I/O completions, and thus sync() or syncfs() provide the same guarantees as fsync()
//     called on every file in the system or filesystem respectively." (sync(2); POSIX lets sync return before)
//
// Of what was not synchronised nothing is said but that it was done: a name leads to what it once led to or to nothing, and a
// file has what it once had where nobody wrote since.
type Promises struct {
	// FsyncNames: fsync of a file also keeps the names that it has, and its directories. Btrfs (btrfs_log_inode_parent,
	// btrfs_log_new_ancestors), F2FS (need_do_checkpoint).
	FsyncNames bool `yaml:"fsync_names"`
	// Ordered: what was done to names, modes, sizes and attributes reaches the disk in the order in which it was done; fsync of a file
	// so keeps all that was done before the file's own last change, of all files. Not what was done after it: where the file did not
	// change, its transaction is on the disk already, and nothing is committed. ext3 and ext4 (ext4_fsync_journal, i_sync_tid; one
	// running transaction, Documentation/filesystems/journalling.rst), XFS (xfs_fsync_flush_log, ili_commit_seq;
	// xfs-delayed-logging-design.rst: "strictly ordered"), ReiserFS, JFS.
	Ordered bool `yaml:"ordered"`
	// FsyncAlone: in an ordered file system fsync of a file does not keep what was done before it: of a file whose data did not change it
	// writes nothing, and of others only their data (NILFS2, nilfs_sync_file, nilfs_inode_dirty, order=relaxed).
	FsyncAlone bool `yaml:"fsync_alone"`
	// AtomicRename: a file that is renamed has one of its names after a crash, never none and never both. All that have a journal
	// or copy on write.
	AtomicRename bool `yaml:"atomic_rename"`
	// Data is what may stand where a file was written and not synchronised.
	Data Data `yaml:"data"`

	// Sync: mounted with -o sync, "Make writes on this filesystem synchronous (as though the O_SYNC flag to open(2) was specified for all
	// file opens to this filesystem)." (mount(2), MS_SYNCHRONOUS), and Dirsync with it (IS_DIRSYNC in linux/fs.h). Nobody promises that chmod(2) or
	// ftruncate(2) wait.
	Sync bool `yaml:"sync"`
	// Dirsync: mounted with -o dirsync, "All directory updates within the filesystem should be done synchronously. This affects the
	// following system calls: creat(2), link(2), unlink(2), symlink(2), mkdir(2), rmdir(2), mknod(2) and rename(2)." (mount(8))
	Dirsync bool `yaml:"dirsync"`

	// Own are names in the root directory, as patterns of path.Match, that are the file system's or made by its fsck, beside
	// "lost+found": nobody asks for them.
	Own []string `yaml:"own"`

	// What the file system does not have: fsync(2) of directories (EINVAL), link(2), symlink(2), permissions and owners of its own, extended attributes of users,
	// holes, RENAME_EXCHANGE, fallocate(2), and FALLOC_FL_PUNCH_HOLE of it.
	NoDirFsync  bool `yaml:"no_dir_fsync"`
	NoLinks     bool `yaml:"no_links"`
	NoSymlinks  bool `yaml:"no_symlinks"`
	NoModes     bool `yaml:"no_modes"`
	NoXattrs    bool `yaml:"no_xattrs"`
	NoHoles     bool `yaml:"no_holes"`
	NoExchange  bool `yaml:"no_exchange"`
	NoFallocate bool `yaml:"no_fallocate"`
	NoPunch     bool `yaml:"no_punch"`
}

// Data says what may stand where a file was written and not synchronised.
type Data string

// The kinds of Data, from the least promise to the greatest.
const (
	Anything Data = ""      // also what was on the disk before: POSIX, ext2, FAT, JFS
	Zeros    Data = "zeros" // what the file had there at any time since, or zeros
	Versions Data = "exact" // what the file had there at any time since: ext3 with data=ordered, which has no delayed allocation
)
