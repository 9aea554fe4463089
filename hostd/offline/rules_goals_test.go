package offline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

const logged = "object(0, k(0, super_block, 0)).\nstate(0, k(0, super_block, 0), log_of, 5).\n"

// inodeOf returns facts about the owner of an inode in a tree.
func inodeOf(tree string, uid int) string {
	return fmt.Sprintf("object(%s, k(257, inode_item, 0)).\n"+
		"state(%s, k(257, inode_item, 0), uid, %d).\n", tree, tree, uid)
}

// goalBundle has rules that use the goals for trees and logs, and a table with an index.
func goalBundle() map[string]string {
	var names strings.Builder
	for i := range 200 {
		fmt.Fprintf(&names, "name-%d, %d\n", i, i)
	}
	head := func(name string) string { return "% Rule site/" + name + ". A.\n" + described }
	changed := func(tree, before string) string {
		return fmt.Sprintf("change(%s, k(257, inode_item, 0), uid, %s, 1000).\n", tree, before)
	}
	expect := func(rule, id string) string {
		return fmt.Sprintf("rule(site/%s).\nexpect(site/%s, 5, %s).\n", rule, rule, id)
	}
	none := func(rule string) string { return "rule(site/" + rule + ").\nexpect_none.\n" }
	const inode = "k(257, inode_item, 0)"
	return map[string]string{
		"data/listed.csv": names.String(),
		"btrfs/x.pl": head("owner") + "violation(site/owner, SUBVOL, k(I, inode_item, 0)) :-\n" +
			"  file_change(SUBVOL, k(I, inode_item, 0), uid, 0, NEW), NEW =\\= 0.\n\n" +
			head("state") + "violation(site/state, SUBVOL, k(I, inode_item, 0)) :-\n" +
			"  file_change(SUBVOL, k(I, inode_item, 0), nlink, _, _),\n" +
			"  file_query(SUBVOL, k(I, inode_item, 0), uid, 1000).\n\n" +
			head("listed") + "violation(site/listed, T, k(D, dir_index, X)) :-\n" +
			"  new(T, k(D, dir_index, X), name, NAME), listed(NAME, N), N > 100.\n",
		"cases/btrfs/tree.pl": changed("5", "0") + inodeOf("5", 1000) + expect("owner", inode),
		// the first fsync since the commit: the log has the inode as new
		"cases/btrfs/log.pl": changed("-6", "null") + inodeOf("5", 0) + inodeOf("-6", 1000) + logged +
			expect("owner", inode),
		// a later one: the log before had the new owner already
		"cases/btrfs/later.pl": changed("-6", "1000") + inodeOf("5", 0) + inodeOf("-6", 1000) + logged +
			none("owner"),
		// the owner was another one in the last commit
		"cases/btrfs/other.pl": changed("-6", "null") + inodeOf("5", 7) + inodeOf("-6", 1000) + logged +
			none("owner"),
		// the root tree has inodes, too, which are none of a subvolume
		"cases/btrfs/root.pl": changed("1", "0") + inodeOf("1", 1000) + none("owner"),
		"cases/btrfs/state.pl": "change(-6, " + inode + ", nlink, null, 1).\n" + inodeOf("5", 0) +
			inodeOf("-6", 1000) + logged + expect("state", inode),
		"cases/btrfs/old_state.pl": "change(-6, " + inode + ", nlink, null, 1).\n" + inodeOf("5", 1000) +
			inodeOf("-6", 0) + logged + none("state"),
		"cases/btrfs/listed.pl": "change(5, k(256, dir_index, 7), name, null, 'name-150').\n" +
			"change(5, k(256, dir_index, 8), name, null, 'name-50').\n" +
			"change(5, k(256, dir_index, 9), name, null, 'name-500').\n" +
			"object(5, k(256, dir_index, 7)).\n" +
			expect("listed", "k(256, dir_index, 7)"),
	}
}

// TestGoalsOfSites checks that the goals for trees and logs, and a table, mean the same on both
// engines.
func TestGoalsOfSites(t *testing.T) {
	files := goalBundle()
	files["bundle.json"] = `{"format": 1, "name": "goals", "version": "1"}`
	dir := writeSite(t, files)
	results, err := offline.TestRules(context.Background(), "", dir, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed {
			t.Errorf("%s (%s): %v %s", r.File, r.Engine, r.Diff, r.Error)
		}
	}
	if len(results) != 2*8 {
		t.Errorf("%d results", len(results))
	}
	plans, err := offline.ExplainRule("site/listed", guard.RulesConfig{Add: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range plans {
		offline.WritePlan(&text, p)
	}
	const access = "listed(NAME,N)\n       rows of a table, by a hash index (constant)"
	if !strings.Contains(text.String(), access) {
		t.Errorf("the table is not found by its index:\n%s", text.String())
	}
}

// TestBenchShowsASquare checks that bench measures a rule that is a square, and shows it.
func TestBenchShowsASquare(t *testing.T) {
	dir := writeSite(t, map[string]string{"ext3/x.pl": "% Rule site/square. A.\n" + described +
		"violation(site/square, dirent, a(D, N)) :-\n  new(dirent, a(D, N), inode, I), " +
		"new(dirent, a(D, _), inode, J), J > I + 1000000.\n" +
		"% Rule site/linear. A.\n" + described +
		"violation(site/linear, inode, I) :- commit, new(inode, I, size, N), N > 1000000.\n"})
	b, err := offline.BenchRules(context.Background(), offline.BenchConfig{FS: "ext3", Files: 1200,
		Rules: guard.RulesConfig{Add: []string{dir}}, Site: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, r := range b.Rules {
		rows[r.Rule] = r.Rows
	}
	if len(rows) != 2 || rows["site/square"] < 1000*1000 || rows["site/linear"] < 1000 ||
		rows["site/linear"] > 10_000 {
		t.Errorf("rows: %v", rows)
	}
}
