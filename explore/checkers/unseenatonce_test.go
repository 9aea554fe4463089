package checkers

import (
	"path"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
)

// atOnceBugs show only when two processes act at the same time.
var atOnceBugs = []unseenBug{
	{bug: "two renames of a file at once leave both names", checker: "sync", needs: together},
	{bug: "two directories of one name are made at once", checker: "sync", needs: together},
	{bug: "a directory is removed while another is made in it", checker: "sync", needs: together},
	{bug: "a listing during a change lacks a name", checker: "sync", needs: together},
	{bug: "the second of two operations at once not journaled", checker: "sync", needs: together},
}

// atOnceWrong performs two operations at once if the planted bug applies to them.
func (f *fake) atOnceWrong(s *exploretest.System, a, b agent.Op) (r agent.Result, wrong bool) {
	if f.bug == "the second of two operations at once not journaled" {
		first := f.perform(s, a)
		logged := len(f.pending)
		second := f.perform(s, b)
		f.pending = f.pending[:min(logged, len(f.pending))]
		return agent.Result{Data: agent.EncodeBoth(first, second)}, true
	}
	first, is := model.FromCall(fakeAt, a)
	second, are := model.FromCall(fakeAt, b)
	if !is || !are {
		return r, false
	}
	var results [2]agent.Result
	switch both := first.Code == second.Code; {
	case f.bug == "two renames of a file at once leave both names" && both &&
		first.Code == model.Rename && first.Path == second.Path:
		f.do(s, model.Op{Code: model.Link, Path: first.Path, To: second.To})
		f.do(s, first)
	case f.bug == "two directories of one name are made at once" && both && first.Code == model.Mkdir:
		f.do(s, first)
	case f.bug == "a directory is removed while another is made in it" && first.Code == model.Rmdir &&
		second.Code == model.Mkdir:
		f.do(s, first)
	case f.bug == "a listing during a change lacks a name" && first.Code == model.Readdir &&
		second.Code == model.Mkdir && f.names(first.Path) > 0:
		f.do(s, second)
		results[0].Data = []byte(path.Base(second.Path) + "\x00")
		results[0].Value = 1
	default:
		return r, false
	}
	return agent.Result{Data: agent.EncodeBoth(results[0], results[1])}, true
}

// TestOrders: two operations at once may give what one after the other gives, in each order, and
// nothing else.
func TestOrders(t *testing.T) {
	rename := func(to string) model.Op { return model.Op{Code: model.Rename, Path: "/p", To: to} }
	list := model.Op{Code: model.Readdir, Path: "/"}
	ok, gone := agent.Result{}, agent.Result{Errno: unix.ENOENT}
	lists := func(s string) agent.Result { return agent.Result{Data: []byte(s)} }
	for _, tt := range []struct {
		name    string
		ops     []model.Op
		results []agent.Result
		states  int
	}{
		{"the first was first", atOnce(rename("/x"), rename("/y")), []agent.Result{ok, gone}, 1},
		{"the second was first", atOnce(rename("/x"), rename("/y")), []agent.Result{gone, ok}, 1},
		{"both", atOnce(rename("/x"), rename("/y")), []agent.Result{ok, ok}, 0},
		{"none", atOnce(rename("/x"), rename("/y")), []agent.Result{gone, gone}, 0},
		{"over each other", atOnce(rename("/x"), model.Op{Code: model.Rename, Path: "/q", To: "/x"}),
			[]agent.Result{ok, ok}, 2},
		{"before", atOnce(list, rename("/x")), []agent.Result{lists("p\x00q\x00"), ok}, 1},
		{"without the name that moves", atOnce(list, rename("/x")),
			[]agent.Result{lists("q\x00"), ok}, 1},
		{"without another", atOnce(list, rename("/x")), []agent.Result{lists("x\x00"), ok}, 0},
		{"twice", atOnce(list, rename("/x")), []agent.Result{lists("q\x00q\x00x\x00"), ok}, 0},
	} {
		f := model.New(fakePromises)
		for i, p := range []string{"/p", "/q"} {
			f.Apply(model.Op{Code: model.Open, Slot: uint32(i), Path: p, Flags: unix.O_CREAT | unix.O_RDWR,
				Mode: 0o644})
			f.Apply(model.Op{Code: model.Write, Slot: uint32(i), Len: small, Seed: uint64(1 + i)})
		}
		f.CloseAll()
		if got := afterPair([]*model.FS{f}, tt.ops, tt.results); len(got) != tt.states {
			t.Errorf("%s: %d states explain the results, want %d", tt.name, len(got), tt.states)
		}
	}
}
