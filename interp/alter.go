package interp

import (
	"errors"
	"fmt"
	"strconv"
)

// An Alterer changes one named field in the metadata that passes through it and makes the checksums
// right again, as a bug in the guest's file system would. It exists to show that fsward refuses
// such changes. It is used by one goroutine.
type Alterer interface {
	// Alter may change w.Data in place. It returns a description of the change ("inode_item
	// k(257,inode_item,0) of tree 5: nlink 1 → 2"), or "". Once it has changed an object, it makes
	// the same change to the same object in every later write of the transaction (the second copy
	// under DUP), and changes no other object.
	Alter(w Write) string
}

// A Corrupter alters the metadata of the whole state on a disk. It takes the same specifications as
// an Alterer. It only reads the disk. It is used by one goroutine.
type Corrupter interface {
	// Corrupt makes the change that spec names at the pick-th place where it is possible, counted
	// from 0 in the order of the trees. The error is about the spec, or is ErrNoPlace.
	Corrupt(spec string, pick int) (Corruption, error)
	// CorruptAll makes the change at the first places where it is possible, at most limit of them.
	// Corruption.What gives their number. The errors are those of Corrupt.
	CorruptAll(spec string, limit int) (Corruption, error)
}

// ErrNoPlace means that a state has no place, or no further place, where an alteration is possible.
var ErrNoPlace = errors.New("no place where the alteration is possible")

// A Corruption is one alteration, made in all copies and with right checksums.
type Corruption struct {
	What    string  // description
	Patches []Patch // changes to the disk
}

// A Patch holds the new contents of a range of the disk.
type Patch struct {
	Off  uint64 // device address, bytes
	Data []byte
}

// An Alterable is a kind of object that can be altered.
type Alterable struct {
	Object  string           `json:"object"`
	Fields  []AlterableField `json:"fields"`
	Actions []string         `json:"actions,omitempty"`
	Kinds   []string         `json:"kinds,omitempty"` // values of the condition kind=
}

// An AlterableField is a number in an object.
type AlterableField struct {
	Name  string `json:"name"`
	Width int    `json:"width"` // bytes
}

// ParseNumber reads a decimal, 0x or 0o number. A negative number stands for the same 64 bits.
func ParseNumber(s string) (uint64, error) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return uint64(n), nil
}
