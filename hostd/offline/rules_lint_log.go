package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fsward/invariants"
)

// fileKinds are the kinds of objects of Btrfs that fsync writes into a log.
var fileKinds = []string{"inode_item", "inode_ref", "inode_extref", "xattr_item", "dir_item",
	"dir_index", "extent_data"}

// fileChange matches a change of an object of a file tree: its tree, its kind and its old value.
var fileChange = regexp.MustCompile(`^change\(([^,]+),k\([^,]*,(\w+),.*\),` +
	`[^,(]+(?:\([^)]*\))?,([^,]+),[^,]+\)$`)

// noteLogs notes the rules of Btrfs that start with change records of files and never look into a
// log, where the writes of fsync are judged first.
func noteLogs(rules []invariants.Rule, plansOf map[string][]invariants.Plan,
	note func(source, level, text string)) {
	for _, r := range rules {
		plans := plansOf[r.Name]
		if slices.ContainsFunc(plans, seesLog) {
			continue
		}
		for _, p := range plans {
			if m := fileChange.FindStringSubmatch(p.Trigger); m != nil && slices.Contains(fileKinds, m[2]) {
				text := "%s does not see a log (tree -6): it passes what fsync writes, and refuses it in " +
					"the next commit, too late; start with file_change/5"
				if isName(m[2]) {
					text += ". A log has a new name as inode_ref of its inode, and removed ones in dir_log_index"
				}
				note(p.Source, LintNote, fmt.Sprintf(text, r.Name))
				break
			}
		}
	}
}

// isVariable reports whether an argument of a goal in a plan is a variable.
func isVariable(text string) bool { return text == "_" || text[0] >= 'A' && text[0] <= 'Z' }

// isName reports whether objects of a kind are names in a directory. A log has them only if the
// directory itself was synced.
func isName(kind string) bool { return kind == "dir_item" || kind == "dir_index" }

// seesLog reports whether a plan may find something in a log. There, a change has an old value only
// if the log before had the object, and the tree is -6.
func seesLog(p invariants.Plan) bool {
	m := fileChange.FindStringSubmatch(p.Trigger)
	if m == nil {
		return false
	}
	tree, old := m[1], m[3]
	switch {
	case isName(m[2]):
		return false
	case tree == "-6":
		return true
	}
	if !isVariable(tree) || old != "null" && !isVariable(old) {
		return false
	}
	for _, s := range p.Steps {
		g := s.Goal
		switch {
		case s.Depth == 0 && (g == old+` \== null`), // the value before is asked for
			strings.HasPrefix(g, tree+" =< "), strings.HasPrefix(g, tree+" < "),
			strings.HasPrefix(g, tree+" =:= "), strings.HasPrefix(g, tree+" = "):
			return false
		}
	}
	return true
}
