package explore

import (
	"crypto/sha256"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A transcript has the answers that operations got from a recovered disk. The key of an answer is
// of the operation, and of all changes that were made to the disk before: on an equal disk the same
// operations get the same answers.
type transcript struct {
	answers map[transcriptKey]agent.Result
	changes transcriptKey // of all operations so far that may change the disk
}

// A transcriptKey identifies an operation and all changes before it, or these changes.
type transcriptKey [sha256.Size]byte

// key returns the key of the next operation.
func (t *transcript) key(o agent.Op) transcriptKey {
	return sha256.Sum256(append(t.changes[:], readKey(o)...))
}

// did notes that an operation was performed.
func (t *transcript) did(o agent.Op) {
	if !isLook(o) {
		t.changes = t.key(o)
	}
}

// add notes the results of the first of these operations.
func (t *transcript) add(ops []agent.Op, results []agent.Result) {
	if t.answers == nil {
		t.answers = make(map[transcriptKey]agent.Result)
	}
	for i, r := range results {
		// The data of all answers has one bound, so that a read alone may succeed.
		if r.Errno != unix.EOVERFLOW {
			t.answers[t.key(ops[i])] = r
		}
		t.did(ops[i])
	}
}

// find returns the answer to the next operation, if it is known.
func (t *transcript) find(o agent.Op) (r agent.Result, ok bool) {
	if r, ok = t.answers[t.key(o)]; ok {
		t.did(o)
	}
	return r, ok
}
