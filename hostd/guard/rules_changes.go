package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"fsward/invariants"
	"fsward/invariants/bundle"
)

// RuleSetInfo describes the rules in force.
type RuleSetInfo struct {
	// Hash is of everything that can change a verdict: two sets with one hash judge alike.
	Hash    string   `json:"hash"`
	Rules   int      `json:"rules"`          // in force, of all file systems
	Site    int      `json:"site,omitempty"` // of these, a site's own
	Bundles []string `json:"bundles,omitempty"`
	// Settings has a line for each rule that a bundle changes, with the reason.
	Settings []string `json:"settings,omitempty"`
	Pauses   bool     `json:"pauses,omitempty"` // a rule has the severity pause

	rules map[string]string // what can change of each rule
}

// String returns a line: "3f2a81b09c44d1e7: 105 rules, 4 of the site".
func (i RuleSetInfo) String() string {
	text := fmt.Sprintf("%s: %d rules", i.Hash, i.Rules)
	if i.Site > 0 {
		text += fmt.Sprintf(", %d of the site", i.Site)
	}
	return text
}

// RuleChanges is the answer to a reload.
type RuleChanges struct {
	RuleSetInfo
	Was     string   `json:"was"` // the hash of the set before
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

// String returns a line for each group of rules that changed.
func (c RuleChanges) String() string {
	var b strings.Builder
	for _, group := range []struct {
		name  string
		rules []string
	}{{"added", c.Added}, {"removed", c.Removed}, {"changed", c.Changed}} {
		if len(group.rules) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", group.name, strings.Join(group.rules, ", "))
		}
	}
	if b.Len() == 0 {
		return "no rule has changed\n"
	}
	return b.String()
}

// describe makes the info of the set.
func (s *ruleSet) describe(source *Source) {
	i := RuleSetInfo{rules: map[string]string{}}
	for _, b := range source.bundles {
		i.Bundles = append(i.Bundles, b.String())
	}
	h := sha256.New()
	for _, fs := range FileSystems() {
		system, ok := s.systems[fs]
		if !ok {
			continue
		}
		for _, r := range system.engine.Rules() {
			name := r.Name
			if i.Rules++; IsSite(name) {
				i.Site++
				name += " (" + fs + ")" // each file system may have one of the name
			}
			i.rules[name] = fmt.Sprintf("%x %s", r.Hash, r.Severity)
			i.Pauses = i.Pauses || r.Severity == invariants.SeverityPause
		}
	}
	for _, set := range source.bundles.Settings() {
		i.Settings = append(i.Settings, settingText(set))
		for name := range i.rules {
			if name == set.Rule || strings.HasPrefix(name, set.Rule+" (") {
				i.rules[name] += fmt.Sprintf(" exempt %q", set.Exempt)
			}
		}
	}
	slices.Sort(i.Settings)
	names := sortedKeys(i.rules)
	for _, name := range names {
		fmt.Fprintf(h, "%s %s\n", name, i.rules[name])
	}
	fmt.Fprintf(h, "%s\n", invariants.LanguageHash())
	i.Hash = hex.EncodeToString(h.Sum(nil)[:8])
	s.info = i
}

// settingText describes what a bundle changes of a rule.
func settingText(s bundle.Setting) string {
	var what []string
	if s.Off {
		what = append(what, "off")
	}
	if s.Severity != "" {
		what = append(what, "severity "+s.Severity)
	}
	if len(s.Exempt) > 0 {
		what = append(what, fmt.Sprintf("%d exempt", len(s.Exempt)))
	}
	if what == nil {
		what = []string{"on"}
	}
	return fmt.Sprintf("%s: %s: %s", s.Rule, strings.Join(what, ", "), s.Reason)
}

// changes compares the set with the one that replaces it.
func (s *ruleSet) changes(next *ruleSet) RuleChanges {
	c := RuleChanges{RuleSetInfo: next.info, Was: s.info.Hash, Added: []string{}, Removed: []string{},
		Changed: []string{}}
	for _, name := range sortedKeys(next.info.rules) {
		switch was, ok := s.info.rules[name]; {
		case !ok:
			c.Added = append(c.Added, name)
		case was != next.info.rules[name]:
			c.Changed = append(c.Changed, name)
		}
	}
	for _, name := range sortedKeys(s.info.rules) {
		if _, ok := next.info.rules[name]; !ok {
			c.Removed = append(c.Removed, name)
		}
	}
	return c
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, CompareNames)
	return keys
}

// Info describes the rules in force.
func (r *Rules) Info() RuleSetInfo { return r.set.Load().info }
