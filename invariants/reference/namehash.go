package reference

import (
	"hash/crc32"
	"math"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// castagnoli is the polynomial of CRC-32C.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NameHash returns the hash under which Btrfs files a name in a directory: btrfs_name_hash in
// fs/btrfs/ctree.h, crc32c((u32)~1, name, len). The kernel's crc32c inverts neither the seed nor
// the result; Go's inverts both.
func NameHash(name []byte) uint32 {
	const seed = 0xfffffffe
	return ^crc32.Update(^uint32(seed), castagnoli, name)
}

// A NameIndex finds the names in the change records of a transaction by their hash. The first call
// of Find builds it.
type NameIndex struct {
	filled bool
	byHash map[uint32][]uint64 // handles, in the order of the records
}

// Reset forgets the names of a transaction.
func (x *NameIndex) Reset() { *x = NameIndex{} }

// Find returns the handles of the names with a hash.
func (x *NameIndex) Find(records []change.Record, names *change.Names, hash uint64) []uint64 {
	if !x.filled {
		x.filled, x.byHash = true, map[uint32][]uint64{}
		seen := map[uint64]struct{}{}
		for i := range records {
			for _, v := range [2]change.Value{records[i].Old, records[i].New} {
				handle, isName := v.Handle()
				if _, again := seen[handle]; !isName || again {
					continue
				}
				seen[handle] = struct{}{}
				h := NameHash([]byte(names.At(handle)))
				x.byHash[h] = append(x.byHash[h], handle)
			}
		}
	}
	if hash > math.MaxUint32 {
		return nil
	}
	return x.byHash[uint32(hash)]
}

// crc32c implements crc32c(NAME, HASH): HASH is the Btrfs hash of NAME. An unbound NAME becomes
// each name in the records of the transaction that has the hash.
func (r *records) crc32c(_ *engine.VM, nameTerm, hash engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	if err := r.budget.spend(1); err != nil {
		return engine.Error(err)
	}
	var text string
	switch n := env.Resolve(nameTerm).(type) {
	case syntax.Name:
		text = string(n)
	case engine.Atom:
		text = n.String()
	case engine.Variable:
		return r.unhash(n, hash, k, env)
	default:
		return engine.Error(syntax.RuleErrorf("crc32c needs a name, not %s", syntax.TermText(n, env)))
	}
	e, ok := env.Unify(hash, engine.Integer(NameHash([]byte(text))))
	if !ok {
		return engine.Bool(false)
	}
	return k(e)
}

// unhash finds the names in the records that have a hash.
func (r *records) unhash(v engine.Variable, hash engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	t := env.Resolve(hash)
	if syntax.IsVariable(t) {
		return engine.Error(syntax.RuleErrorf("crc32c needs a name or a hash"))
	}
	h, ok := syntax.U64(t)
	if !ok {
		return engine.Bool(false)
	}
	handles := r.hashed.Find(r.input.txn.Records, r.input.txn.Names, h)
	return r.solver.solutions(k, func() (*engine.Env, bool, error) {
		if len(handles) == 0 {
			return nil, false, nil
		}
		e, ok := env.Unify(v, r.input.vocabulary.NameTerm(r.input.txn.Names.At(handles[0])))
		handles = handles[1:]
		return e, ok, r.budget.spend(1)
	})
}
