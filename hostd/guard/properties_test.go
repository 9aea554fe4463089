package guard_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// byteViolations returns all alterations of real commits by which TestEveryRuleRefuses violates
// rules and checks of a file system. In the unaltered recordings they hold.
func byteViolations(fs string) []violation {
	list := slices.Clone(violations[fs])
	if fs == "ext3" {
		return slices.Concat(list, orphanViolations, linkViolations)
	}
	for _, l := range fileLoads {
		list = append(list, l.bugs...)
	}
	return slices.Concat(list, spaceViolations, structureViolations, bitmapViolations, logViolations)
}

// TestThesisProperties checks that each of the thesis's thirty properties is enforced by a rule or
// check that has text, a source, and a real commit whose bytes violate it.
func TestThesisProperties(t *testing.T) {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for n := range 25 {
		want = append(want, strconv.Itoa(n+1))
	}
	for n := range 5 {
		want = append(want, "4.1 ("+strconv.Itoa(n+1)+")")
	}
	doc, err := os.ReadFile("../../docs/user/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	broken := byteViolations("btrfs")
	for _, p := range offline.ThesisProperties(rules) {
		i := slices.Index(want, p.Number)
		if i < 0 {
			t.Errorf("%s is of the thesis as property %s, which it does not have or which is held already",
				p.By, p.Number)
			continue
		}
		want = slices.Delete(want, i, i+1)
		if !strings.Contains(string(doc), "| "+p.Number+" | `"+p.By+"` | "+p.Origin+" |") {
			t.Errorf("property %s (%s) is not in docs/user/invariants.md", p.Number, p.By)
		}
		if !slices.ContainsFunc(broken, func(v violation) bool { return v.rule == p.By }) {
			t.Errorf("property %s (%s) is violated by no bytes", p.Number, p.By)
		}
	}
	if len(want) > 0 {
		t.Errorf("properties of the thesis that nothing holds: %v", want)
	}
}

// TestEveryRuleHasText checks that each rule says what it requires, where it comes from and what it
// means for the user, and that each check says what it must. TestEveryRuleRefuses violates each
// rule in bytes; the packages of the structure checks do that for theirs.
func TestEveryRuleHasText(t *testing.T) {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, fs := range guard.FileSystems() {
		for _, r := range rules.List(fs) {
			for what, text := range map[string]string{"doc": r.Doc, "source": r.Origin,
				"meaning for the user": r.User, "place": r.Source} {
				if text == "" {
					t.Errorf("%s has no %s", r.Name, what)
				}
			}
		}
		for _, c := range detect.Checks(fs) {
			if !strings.HasPrefix(c.Name, fs+"/") || !strings.HasSuffix(c.Doc, ".") {
				t.Errorf("check %q of %s: %q", c.Name, fs, c.Doc)
			}
		}
	}
}
