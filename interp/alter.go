package interp

// An Alterer changes one named field in the metadata that passes through it and makes the checksums
// right again, as a bug in the guest's file system would: what `fsward` shows that it refuses, it has
// to be able to cause. It is used by one goroutine.
type Alterer interface {
	// Alter looks at a write on its way from the guest and may change w.Data in place. It returns what
	// it changed, for people ("inode_item k(257,inode_item,0) of tree 5: nlink 1 → 2"), or "". Once it
	// has changed an object it changes the same object in the same way in every later write of the
	// transaction (the second copy under DUP), and no other.
	Alter(w Write) string
}
