package model_test

import (
	"fmt"
	"testing"

	"fsward/explore/model"
)

// signatureClasses are classes of scripts. The trees of a class differ only in names. Trees of
// different classes differ in more.
var signatureClasses = [][]string{
	{
		"mkdir /a; creat /a/x; creat /b",
		"mkdir /q; creat /z; creat /q/b",
		"creat /a; mkdir /b; creat /b/b",
	},
	{"creat /a; link /a /b; creat /c", "creat /c; creat /a; link /a /x"},
	{
		"mkdir /a; mkdir /b; creat /a/f; link /a/f /b/f; creat /a/g; link /a/g /b/g",
		"mkdir /x; mkdir /y; creat /y/1; link /y/1 /x/2; creat /x/3; link /x/3 /y/4",
	},
	{"mkdir /a; mkdir /b; creat /a/f; link /a/f /b/f; creat /a/g; creat /b/g"},
	{
		"creat /a; write /a 1; creat /b",
		"creat /a; creat /b; write /b 1; unlink /a; creat /x",
	},
	{"creat /a; write /a 2; creat /b"},
	{"creat /a; chmod /a 384; creat /b"},
	{"mkdir /a; mkdir /a/b"},
	{"mkdir /a; mkdir /b"},
	{"symlink /a b"},
	{""},
}

func TestSignature(t *testing.T) {
	seen := make(map[string]string)
	for i, class := range signatureClasses {
		first := ""
		for _, text := range class {
			s := string(after(t, posix, text).Signature())
			if first == "" {
				first = s
				if other, is := seen[s]; is {
					t.Errorf("%q has the signature of %q", text, other)
				}
			}
			if s != first {
				t.Errorf("class %d: %q and %q have different signatures", i, text, class[0])
			}
			seen[s] = text
		}
	}
	a := after(t, posix, "mkdir /a; sync; mkdir /b")
	b := after(t, posix, "mkdir /a; mkdir /b; sync")
	if string(a.Signature()) != string(b.Signature()) {
		t.Error("Signature depends on durability")
	}
	if string(a.StableSignature()) == string(b.StableSignature()) {
		t.Error("StableSignature does not depend on durability")
	}
	c := after(t, posix, "mkdir /x; sync; mkdir /u; mkdir /v; rmdir /v")
	d := after(t, posix, "mkdir /k; sync; mkdir /b; rmdir /b; mkdir /a")
	if string(c.Signature()) != string(d.Signature()) {
		t.Error("Signature depends on removed names")
	}
}

// TestKey: file systems that differ in one property that Allowed uses have different keys.
func TestKey(t *testing.T) {
	scripts := []string{
		"", "creat /a", "creat /b",
		"creat /a; sync", "creat /a; fsync /", "creat /a; fsync /a",
		"creat /a; chmod /a 448; fsync /a", "creat /a; chmod /a 448; fdatasync /a",
		"creat /a; write /a 1", "creat /a; write /a 2", "creat /a; truncate /a 8192",
		"creat /a; sync; chmod /a 448", "creat /a; sync; rename /a /b",
		"creat /a; sync; link /a /b; unlink /a", "creat /a; sync; unlink /a; creat /a",
	}
	keys := make(map[string]string)
	for _, p := range []model.Promises{posix, journal, trees} {
		for _, text := range scripts {
			name := fmt.Sprintf("%q with %+v", text, p)
			key := after(t, p, text).Key()
			if other, is := keys[key]; is {
				t.Errorf("%s has the key of %s", name, other)
			}
			keys[key] = name
			if after(t, p, text).Key() != key {
				t.Errorf("%s has two keys", name)
			}
		}
	}
}
