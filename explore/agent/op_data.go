package agent

// Dwrite is pwrite(2) with O_DIRECT of n bytes, at most MaxData, of the pattern that Pattern
// returns. It sets the flag for this write alone (fcntl(2), F_SETFL). Value is the number of bytes
// written. It fails with EINVAL if the file system has no direct I/O, or if off or n is not a
// multiple of the disk's sectors.
func Dwrite(slot uint32, off uint64, n uint32, seed uint64) Op {
	return Op{Code: opDwrite, n: slot, a: off, b: uint64(n), c: seed}
}

// Dwrites is Dwrite by lseek(2) and two calls of write(2), each of half of the bytes. The second
// one begins at the position in the file that the first one leaves.
func Dwrites(slot uint32, off uint64, n uint32, seed uint64) Op {
	return Op{Code: opDwrites, n: slot, a: off, b: uint64(n), c: seed}
}

// Mmapwrite writes n bytes of a pattern through a shared mapping, mmap(2), which it removes
// afterwards. It fails with EINVAL if n is 0, and with EFAULT if the range is not within the file.
func Mmapwrite(slot uint32, off uint64, n uint32, seed uint64) Op {
	return Op{Code: opMmapwrite, n: slot, a: off, b: uint64(n), c: seed}
}

// Mmaptail writes n bytes of a pattern behind the end of a file, through a mapping of its last
// page. It fails with EFAULT if they are not all in that page.
func Mmaptail(slot uint32, n uint32, seed uint64) Op {
	return Op{Code: opMmaptail, n: slot, b: uint64(n), c: seed}
}

// Msync is msync(2) with MS_SYNC of a mapping of a range. It fails as Mmapwrite does.
func Msync(slot uint32, off uint64, n uint32) Op {
	return Op{Code: opMsync, n: slot, a: off, b: uint64(n)}
}

// SyncFileRange is sync_file_range(2) with its flags.
func SyncFileRange(slot uint32, off, n uint64, flags uint) Op {
	return Op{Code: opSyncFileRange, n: slot, a: off, b: n, c: uint64(flags)}
}

// Clone is ioctl_ficlonerange(2): n bytes of the file in slot from, at fromOff, become n bytes of
// the file in slot, at off.
func Clone(slot uint32, off uint64, from uint32, fromOff, n uint64) Op {
	return Op{Code: opClone, n: slot, a: uint64(from), b: fromOff, c: off, d: n}
}

// Dedupe is ioctl_fideduperange(2), with the parameters of Clone. Value is the number of bytes that
// the files share now, and 0 if they differ.
func Dedupe(slot uint32, off uint64, from uint32, fromOff, n uint64) Op {
	return Op{Code: opDedupe, n: slot, a: uint64(from), b: fromOff, c: off, d: n}
}

// Linkat is linkat(2) with AT_EMPTY_PATH: an open file, such as one of O_TMPFILE, gets a name.
func Linkat(slot uint32, to string) Op { return Op{Code: opLinkat, n: slot, s: to} }

// Writeback waits until the kernel's flusher has written all dirty pages by itself. It lowers the
// age at which pages expire, and the flusher's period, for that time.
func Writeback() Op { return Op{Code: opWriteback} }
