package invariants_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"fsward/invariants"
	"fsward/shareddata"
)

// swiProlog defines the primitives for SWI-Prolog over plain facts, as slowly and as simply as
// possible.
const swiProlog = `
:- set_prolog_flag(verbose_load, silent).
:- discontiguous change/5, object/2, state/4, adjacent/3, violation/3.
:- dynamic change/5, object/2, state/4, adjacent/3.
add(T,I) :- change(T,I,object,null,present).
update(T,I) :- change(T,I,object,present,present).
delete(T,I) :- change(T,I,object,present,null).
new(T,I) :- change(T,I,object,_,present).
new(T,I,F,N) :- change(T,I,F,_,N), N \== null.
old(T,I) :- change(T,I,object,present,_).
old(T,I,F,O) :- change(T,I,F,O,_), O \== null.
query(T,I) :- object(T,I).
query(T,I,F,V) :- state(T,I,F,V).
previous(T,I,P) :- adjacent(T,P,I).
next(T,I,N) :- adjacent(T,I,N).
verify(G) :- \+ call(G).
not(A,B) :- \+ (A, B).
crc32c(NAME,HASH) :- atom_codes(NAME,CODES), foldl(crc_byte,CODES,0xfffffffe,HASH).
crc_byte(B,C0,C) :- X is C0 xor B, crc_bits(8,X,C).
crc_bits(0,C,C) :- !.
crc_bits(N,C0,C) :-
  M is N-1, ( C0 /\ 1 =:= 1 -> C1 is (C0 >> 1) xor 0x82f63b78 ; C1 is C0 >> 1 ),
  crc_bits(M,C1,C).
answers :-
  forall(violation(N,T,I),
    (write_term(N,[]), put_char('\t'), write_term(T,[]), put_char('\t'),
     write_term(I,[quoted(true)]), nl)).
`

// TestAgainstSWIProlog checks that SWI-Prolog, with primitives of its own over the same facts,
// finds the same violations.
func TestAgainstSWIProlog(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	want, said := runProlog(ctx, t, "tree-1k", "consult([facts,thesis]),answers")

	f := loadFacts(t, shareddata.Path(t, "rules", "tree-1k.pl.zst"))
	e, err := invariants.NewReference(f.Txn.Schema, thesisRules(t),
		invariants.Options{OpenVocabulary: true})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(e.Check(context.Background(), f.Txn, f.View).Violations)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("violations (-SWI-Prolog +reference):\n%s\nswipl said: %s", d, said)
	}
}

// runProlog lets SWI-Prolog read a transaction of the shared data and the rules as printed, and
// prove a goal. It returns the printed lines, sorted and without duplicates, and the rest of the
// output.
func runProlog(ctx context.Context, t *testing.T,
	facts, goal string) (lines []string, said string) {
	t.Helper()
	swipl, err := exec.LookPath("swipl")
	if err != nil {
		t.Fatal("swipl is missing: install the Debian package swi-prolog-nox")
	}
	dir := t.TempDir()
	prologFiles(t, dir, facts)
	cmd := exec.CommandContext(ctx, swipl, "-q", "--stack-limit=8g", "-f", "primitives.pl", "-g", goal,
		"-t", "halt")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("swipl: %v\n%s", err, stderr.String())
	}
	lines = strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	return slices.Compact(lines), stderr.String()
}

// prologFiles writes the files that SWI-Prolog reads: facts.pl, the primitives over them, and the
// rules.
func prologFiles(t *testing.T, dir, facts string) {
	t.Helper()
	packed, err := os.Open(shareddata.Path(t, "rules", facts+".pl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	d, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"facts.pl": text, "primitives.pl": []byte(swiProlog),
		"thesis.pl": thesisRules(t)[0].Text} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
