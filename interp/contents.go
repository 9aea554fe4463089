package interp

// Files reads the regular files of the last commit on a disk that does not change.
type Files interface {
	// Contents calls visit with the contents of a file, in order and without gaps, up to its size in
	// bytes. tree is 0 for a file system with one tree. The data is valid until visit returns. An
	// error is a *ContentsError, that of a read, or that of visit.
	Contents(tree, inode, size uint64, visit func(Piece) error) error
}

// A Piece is a range of a file.
type Piece struct {
	Off, Len uint64 // bytes in the file
	Data     []byte // Len bytes; nil: zeros, which the disk need not have
	// Placed says that the data was read from its place on the disk, at the address Addr in bytes,
	// and not from a journal or an item of a tree.
	Placed bool
	Addr   uint64
}

// A ContentsError says why the contents of a file are not known.
type ContentsError struct {
	// Damaged means that the disk does not have what the commit says: no reader can get the contents.
	// Otherwise fsward does not read them.
	Damaged bool
	Reason  string
}

func (e *ContentsError) Error() string { return e.Reason }

// Gap visits the zeros between two pieces of a file: from the end of one to the begin of the next.
func Gap(from, to uint64, visit func(Piece) error) error {
	if from >= to {
		return nil
	}
	return visit(Piece{Off: from, Len: to - from})
}
