package ext3

// NextCommit returns the number of the transaction that the next commit ends; mounted is false
// while there is none.
func NextCommit(fs *FS) (seq uint32, mounted bool) {
	if fs.m == nil {
		return 0, false
	}
	return fs.m.Log.nextSeq, true
}
