package explore

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// storeName is the file of a run's states in its folder.
const storeName = "run.db"

// lockPatience is how long another process may hold the file of a run.
const lockPatience = 2 * time.Second

// Buckets of a store.
var (
	bucketMeta     = []byte("meta")
	bucketFrontier = []byte("frontier") // priority and number of a state -> state
	bucketSeen     = []byte("seen")     // signatures
	bucketFeatures = []byte("features") // feature -> how many states had it
	bucketErrors   = []byte("errors")   // folder -> Error
)

var (
	keyConfig = []byte("config")
	keyTotals = []byte("totals")
	keyAsked  = []byte("asked") // Summary.Asked
)

// A state is one whose children are to be run.
type state struct {
	Steps [][]Choice        `json:"steps"`          // by call of Mutate
	Sig   string            `json:"sig"`            // hash of its signature
	Next  []uint32          `json:"next"`           // the values that the next child begins with
	Fail  []InjectedFault   `json:"fail,omitempty"` // in the next child, which is the only one then
	crash *processCrashPlan // where the next child ends; nil: it does not
}

// store is what a run keeps on disk, so that it goes on after it was killed. What one child gave is written at once or not at all.
type store struct{ db *bolt.DB }

// openStore opens the file of a run, which is made if it has to be.
func openStore(dir string) (*store, error) {
	path := filepath.Join(dir, storeName)
	db, err := bolt.Open(path, 0o644, &bolt.Options{Timeout: lockPatience})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s: another fsward explores with it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketMeta, bucketFrontier, bucketSeen, bucketFeatures, bucketErrors} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return &store{db}, nil
}

func (s *store) close() error { return s.db.Close() }

// meta reads what was kept under a key into v. Nothing there: v stays as it is, and found is false.
func (s *store) meta(key []byte, v any) (found bool, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketMeta).Get(key)
		if found = b != nil; !found {
			return nil
		}
		return json.Unmarshal(b, v)
	})
	return found, err
}

// first returns the state of the frontier whose turn it is; nil if there is none.
func (s *store) first() (key []byte, st *state, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		k, v := tx.Bucket(bucketFrontier).Cursor().First()
		if k == nil {
			return nil
		}
		key = append(key, k...)
		st = new(state)
		return json.Unmarshal(v, st)
	})
	return key, st, err
}

// errors returns all errors that were found.
func (s *store) errors() (out []Error, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketErrors).ForEach(func(_, v []byte) error {
			var e Error
			err := json.Unmarshal(v, &e)
			out = append(out, e)
			return err
		})
	})
	return out, err
}

// update is one transaction.
func (s *store) update(f func(t *change) error) error {
	return s.db.Update(func(tx *bolt.Tx) error { return f(&change{tx}) })
}

// change is what one transaction does.
type change struct{ tx *bolt.Tx }

func (c *change) put(bucket, key []byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.tx.Bucket(bucket).Put(key, b)
}

// see notes a signature, and tells whether it was new.
func (c *change) markSeen(sig string) (fresh bool, err error) {
	b := c.tx.Bucket(bucketSeen)
	if b.Get([]byte(sig)) != nil {
		return false, nil
	}
	return true, b.Put([]byte(sig), []byte{1})
}

// count notes that a state has a feature, and returns how many had it before.
func (c *change) count(feature string) (before uint64, err error) {
	b := c.tx.Bucket(bucketFeatures)
	if v := b.Get([]byte(feature)); len(v) == 8 {
		before = binary.BigEndian.Uint64(v)
	}
	return before, b.Put([]byte(feature), binary.BigEndian.AppendUint64(nil, before+1))
}

// enqueue puts a state into the frontier. The lowest priority comes first, and of equal ones the oldest.
func (c *change) enqueue(priority uint64, st *state) error {
	n, err := c.tx.Bucket(bucketFrontier).NextSequence()
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, priority), n)
	return c.put(bucketFrontier, key, st)
}

// sequence is a number for the next state.
func (c *change) sequence() uint64 { return c.tx.Bucket(bucketFrontier).Sequence() }

func (c *change) dequeue(key []byte) error { return c.tx.Bucket(bucketFrontier).Delete(key) }

// saveError keeps an error, or what changed of it. They have different folders, whose names are in the order in which they were found.
func (c *change) saveError(e *Error) error { return c.put(bucketErrors, []byte(e.Dir), e) }
