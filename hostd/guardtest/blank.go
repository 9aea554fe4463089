package guardtest

// Blank is an empty disk of so many bytes.
type Blank uint64

// Size returns the size of the disk in bytes.
func (b Blank) Size() uint64 { return uint64(b) }

// ReadAt reads zeros.
func (Blank) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}
