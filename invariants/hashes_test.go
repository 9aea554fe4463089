package invariants_test

import (
	"context"
	"testing"

	"fsward/invariants"
)

// TestNamesByHash checks that a name has a hash, and the names in the records of a commit are found
// by their hash.
func TestNamesByHash(t *testing.T) {
	const text = `
change(5, k(256,dir_item,1), name, 'old name', 'new name').
change(5, k(256,dir_item,2), name, null, 'dir_item').
change(5, k(256,dir_item,3), name, null, 'new name').
change(5, k(256,dir_item,4), name_len, null, 8).
object(5, k(256,dir_item,1)).
state(5, k(256,dir_item,1), name, 'elsewhere').
`
	answers(t, text, map[string]string{
		"crc32c('new name', H), crc32c(X, H)":                                        "'new name'",
		"crc32c('old name', H), crc32c(X, H)":                                        "'old name'",
		"crc32c(dir_item, H), crc32c(X, H)":                                          "dir_item",
		"crc32c(elsewhere, H), crc32c(X, H)":                                         "",
		"crc32c(X, 12345)":                                                           "",
		"crc32c(X, 18446744073709551615)":                                            "",
		"crc32c(X, name)":                                                            "",
		"crc32c('new name', H), not(crc32c(_, H)), X = 1":                            "",
		"crc32c('new name', H), count(crc32c(_, H), X)":                              "1",
		"crc32c('new name', H), crc32c(X, H), X \\== 'new name'":                     "",
		"crc32c('new name', H), (X = elsewhere ; X = 'new name'), crc32c(X, H)":      "'new name'",
		"crc32c(elsewhere, H), crc32c(X, H), query(5, k(256,dir_item,1), name, X)":   "",
		"crc32c(elsewhere, H), query(5, k(256,dir_item,1), name, X), crc32c(X, H)":   "elsewhere",
		"crc32c(elsewhere, H), query(5, k(256,dir_item,_), name, X), crc32c(X, H)":   "elsewhere",
		"change(5, k(_,dir_item,S), name, null, X), crc32c(X, H), crc32c(X, H), S=2": "dir_item",
	})
	f := parseFacts(t, text)
	e := newBoth(t, f.Txn.Schema, "violation(1, 5, X) :- crc32c(X, _).",
		invariants.Options{OpenVocabulary: true})
	if v := e.Check(context.Background(), f.Txn, f.View); len(v.Undecided) != 1 {
		t.Errorf("neither name nor hash: %v", v)
	}
}

// TestHashOfNoName checks that it is an error to hash something that is not a name, even if no hash
// could be wanted.
func TestHashOfNoName(t *testing.T) {
	f := parseFacts(t, "change(5, k(256,dir_item,1), name, null, 'new name').\n")
	for body, undecided := range map[string]int{
		"V = k(1, dir_item, 2), crc32c(V, V)":                     1,
		"V = k(1, dir_item, 2), crc32c(V, name)":                  1,
		"V = name, crc32c(V, V)":                                  0,
		"V = k(1, dir_item, 2), \\+ crc32c(V, V)":                 1,
		"V = k(1, dir_item, 2), (crc32c(V, V) ; crc32c(name, V))": 1,
	} {
		e := newBoth(t, f.Txn.Schema, "violation(1, 5, 1) :- change(5, _, name, _, _), "+body+".",
			invariants.Options{OpenVocabulary: true})
		if v := e.Check(context.Background(), f.Txn, f.View); len(v.Undecided) != undecided ||
			len(v.Violations) != 0 {
			t.Errorf("%s: %+v", body, v)
		}
	}
}
