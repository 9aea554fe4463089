package facts

import (
	"strings"
	"testing"
	"time"

	"fsward/change"
)

// TestRoundTrip checks that facts that are read are written again as the same text.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		"change(5,k(257,inode_item,0),size,null,18446744073709551615)",
		"change(7,k(-10,extent_csum,4096),object,null,present)",
		"change(5,k(256,dir_item,1),location,null,k(258,root_item,-1))",
		"change(5,k(257,inode_item,0),f(mode,s_ifmt),'s_ifdir','s_ifreg')",
		`change(5,k(256,inode_ref,a(3,4)),name,null,'it\'s \\ \xff\')`,
		"change(inode,12,links_count,1,2)",
		"change(pointer,a(12,3),block,null,700)",
		`change(dirent,a(2,'a b'),inode,12,null)`,
	} {
		f, err := Parse("% a comment\n" + text + ".\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := f.Txn.Schema.RecordText(f.Txn.Records[0], f.Txn.Names); got != text {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"\n\nfoo(1,2,3).":                           "line 3",
		"change(5,k(1,a,0),size,1).":                "not a fact",
		"object(5,k(1,a,0))":                        "full stop",
		"object(5,k(1,a,x)).":                       "third part",
		"object(5,7).":                              "kind of the object",
		"object(X,7).":                              "unexpected character 'X'",
		"object(a,1). object(5,k(1,a,0)).":          "everywhere",
		"object(a,1). object(a,a(1,2)).":            "two ways",
		"object(a,k(1,b,0)).":                       "differ",
		"object(5,k(99999999999999999999999,a,0)).": "64 bits",
		"object(5,k(-9223372036854775809,a,0)).":    "64 bits",
		"state(5,k(1,a,0),size,f(1)).":              "a value is",
		"state(5,k(1,a,0),3,1).":                    "a field is",
		"object(5,k(1,a,'x":                         "does not end",
		"object(5,f(f(f(f(f(f(f(f(1))))))))).":      "too deeply",
		`state(5,k(1,a,0),n,'\q').`:                 "escape",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestView(t *testing.T) {
	f, err := Parse(
		"object(5,k(2,a,0)). object(5,k(1,a,9)). object(5,k(1,a,3)). object(5,k(1,a,3)). " +
			"adjacent(5,k(1,a,3),k(1,a,9)).")
	if err != nil {
		t.Fatal(err)
	}
	one := change.Object{Tree: 5, ID: 1, Kind: 1, Sub: 3}
	nine := change.Object{Tree: 5, ID: 1, Kind: 1, Sub: 9}
	var got []uint64
	for o, err := range f.View.Scan(change.Object{Tree: 5, ID: 1},
		change.Object{Tree: 5, ID: 1, Kind: 255}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o.Sub)
	}
	if len(got) != 2 || got[0] != 3 || got[1] != 9 {
		t.Errorf("scan gives %v, want 3 and 9", got)
	}
	if n, ok, _ := f.View.Next(one); !ok || n != nine {
		t.Errorf("next is %v, %v", n, ok)
	}
	if p, ok, _ := f.View.Previous(nine); !ok || p != one {
		t.Errorf("previous is %v, %v", p, ok)
	}
	if _, ok, _ := f.View.Previous(one); ok {
		t.Error("the first object has a previous one")
	}
}

// FuzzParse checks that any text gives facts or an error, in bounded time.
func FuzzParse(f *testing.F) {
	f.Add(
		"change(5,k(-10,extent_csum,4096),object,null,present).\n" +
			"state(5,k(1,a,a(1,2)),f(a,b),'x\\xff\\').")
	f.Add("object(inode,12). adjacent(inode,12,13). % c")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		facts, err := Parse(text)
		if err == nil {
			for _, r := range facts.Txn.Records {
				facts.Txn.Schema.RecordText(r, facts.Txn.Names)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("took %v", took)
		}
	})
}
