package explore

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// storeName is the file with the states of a run, in its folder.
const storeName = "run.db"

// lockPatience is how long openStore waits for another process to release the file.
const lockPatience = 2 * time.Second

// Buckets of a store.
var (
	bucketMeta     = []byte("meta")
	bucketFrontier = []byte("frontier") // priority and number of a state -> state
	bucketSeen     = []byte("seen")     // signature -> 1
	bucketFeatures = []byte("features") // feature -> how many states had it
	bucketErrors   = []byte("errors")   // folder -> Error
	bucketEdges    = []byte("edges")    // edge of the kernel's code -> how many executions had it

	buckets = [][]byte{bucketMeta, bucketFrontier, bucketSeen, bucketFeatures, bucketErrors,
		bucketEdges}
)

// Keys of bucketMeta.
var (
	keyConfig = []byte("config")
	keyTotals = []byte("totals")
	keyAsked  = []byte("asked")  // Summary.Asked
	keyGrowth = []byte("growth") // Coverage.Growth
	keyCode   = []byte("code")   // Config.Code
)

// A state is an entry of the frontier: its children are still to be executed.
type state struct {
	// Setup has the choices with which the stack was made and mounted, and those of the checker's
	// Init.
	Setup []Choice   `json:"setup,omitempty"`
	Root  bool       `json:"root,omitempty"` // its children are setups, and not steps
	Steps [][]Choice `json:"steps"`          // the choices of each call of Mutate
	// Faults has the faults of each step; nil: there are none.
	Faults [][]InjectedFault `json:"faults,omitempty"`
	Sig    string            `json:"sig"`            // hash of its signature; "": not known
	Next   []uint32          `json:"next"`           // the first choices of the next child
	Fail   []InjectedFault   `json:"fail,omitempty"` // faults of its only child; nil: none
	// Scout and Scouted are of the strategy Cover: the state's children are one for each operation,
	// or all but this one of one operation.
	Scout   bool              `json:"scout,omitempty"`
	Scouted []Choice          `json:"scouted,omitempty"`
	Later   bool              `json:"later,omitempty"`   // the next operation is an uncommon one
	Repeat  bool              `json:"repeat,omitempty"`  // Scouted is to be executed again
	Without bool              `json:"without,omitempty"` // its only child lacks a part that failed
	crash   *processCrashPlan // process crash of the next child; nil: none
}

// A store is the part of a run on disk, so that a run can continue after it was killed. A
// transaction has all results of one child or of several in a row.
type store struct {
	db        *bolt.DB
	open      *bolt.Tx // changes that are not committed; nil: none
	committed time.Time
	pause     time.Duration // time from one commit to the next
}

// A commit waits for the host's disk. So the next one comes after commitShare times as long, and at
// most after commitPause, which is the work that a kill can lose.
const (
	commitShare = 20
	commitPause = 5 * time.Second
)

// openStore opens the file of a run. It makes the file if there is none.
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
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return &store{db: db}, nil
}

func (s *store) close() error { return errors.Join(s.commit(), s.db.Close()) }

// view calls f with a transaction that has all changes.
func (s *store) view(f func(tx *bolt.Tx) error) error {
	if s.open != nil {
		return f(s.open)
	}
	return s.db.View(f)
}

// meta reads the value of a key of bucketMeta into v. If there is none, it leaves v alone, and
// found is false.
func (s *store) meta(key []byte, v any) (found bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketMeta).Get(key)
		if found = b != nil; !found {
			return nil
		}
		return json.Unmarshal(b, v)
	})
	return found, err
}

// first returns the state at the head of the frontier and its key; nil if the frontier is empty.
func (s *store) first() (key []byte, st *state, err error) {
	err = s.view(func(tx *bolt.Tx) error {
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

// errors returns all errors that the run found, sorted by folder.
func (s *store) errors() (out []Error, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketErrors).ForEach(func(_, v []byte) error {
			var e Error
			err := json.Unmarshal(v, &e)
			out = append(out, e)
			return err
		})
	})
	// The store sorts folders as text: 1000 comes before 101.
	slices.SortStableFunc(out, func(a, b Error) int { return cmp.Compare(a.number(), b.number()) })
	return out, err
}

// update makes the changes of f. They are committed now, or with later ones.
func (s *store) update(f func(t *change) error) (err error) {
	if s.open == nil {
		if s.open, err = s.db.Begin(true); err != nil {
			return err
		}
	}
	if err := f(&change{s.open}); err != nil {
		err = errors.Join(err, s.open.Rollback())
		s.open = nil
		return err
	}
	if time.Since(s.committed) < s.pause {
		return nil
	}
	return s.commit()
}

// commit writes the changes to the disk.
func (s *store) commit() error {
	if s.open == nil {
		return nil
	}
	began := time.Now()
	err := s.open.Commit()
	s.open, s.committed = nil, time.Now()
	s.pause = min(commitShare*s.committed.Sub(began), commitPause)
	return err
}

// A change is an open transaction.
type change struct{ tx *bolt.Tx }

func (c *change) put(bucket, key []byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.tx.Bucket(bucket).Put(key, b)
}

// markSeen records a signature, and reports whether it is new.
func (c *change) markSeen(sig string) (fresh bool, err error) {
	b := c.tx.Bucket(bucketSeen)
	if b.Get([]byte(sig)) != nil {
		return false, nil
	}
	return true, b.Put([]byte(sig), []byte{1})
}

// count counts a state with a feature, and returns how many states had it before.
func (c *change) count(feature string) (before uint64, err error) {
	b := c.tx.Bucket(bucketFeatures)
	if v := b.Get([]byte(feature)); len(v) == 8 {
		before = binary.BigEndian.Uint64(v)
	}
	return before, b.Put([]byte(feature), binary.BigEndian.AppendUint64(nil, before+1))
}

// enqueue puts a state into the frontier. The lowest priority comes first. States of equal priority
// come in the order in which they were put.
func (c *change) enqueue(priority uint64, st *state) error {
	n, err := c.tx.Bucket(bucketFrontier).NextSequence()
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, priority), n)
	return c.put(bucketFrontier, key, st)
}

// sequence returns how often a state was put into the frontier so far.
func (c *change) sequence() uint64 { return c.tx.Bucket(bucketFrontier).Sequence() }

func (c *change) dequeue(key []byte) error { return c.tx.Bucket(bucketFrontier).Delete(key) }

// saveError writes an error, or replaces it. Its key is its folder. The names of folders sort in
// the order in which the errors were found.
func (c *change) saveError(e *Error) error { return c.put(bucketErrors, []byte(e.Dir), e) }
