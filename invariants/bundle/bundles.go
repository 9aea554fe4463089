package bundle

import (
	"fmt"
	"path"
	"slices"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// Bundles are the bundles that are in force together.
type Bundles []*Bundle

// OpenAll opens bundles. The error says so if two of them set one rule.
func OpenAll(paths []string) (Bundles, error) {
	var all Bundles
	from := map[string]string{}
	for _, p := range paths {
		b, err := Open(p)
		if err != nil {
			return nil, err
		}
		for _, s := range b.Settings {
			if other, again := from[s.Rule]; again {
				return nil, fmt.Errorf("%s is set by both %s and %s", s.Rule, other, p)
			}
			from[s.Rule] = p
		}
		all = append(all, b)
	}
	return all, nil
}

// Rules returns the files of all bundles with the rules of a file system; nil if there are none.
func (all Bundles) Rules(fileSystem string) (files []syntax.File, err error) {
	for _, b := range all {
		more, err := b.Rules(fileSystem)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// Settings returns the settings of all bundles.
func (all Bundles) Settings() (list []Setting) {
	for _, b := range all {
		list = append(list, b.Settings...)
	}
	return list
}

// ByRule returns the settings as rules are loaded with them.
func (all Bundles) ByRule() map[string]ruleset.Setting {
	m := map[string]ruleset.Setting{}
	for _, s := range all.Settings() {
		m[s.Rule] = s.Setting
	}
	return m
}

// CheckRules returns an error if a setting is of a rule that is not among the names.
func (all Bundles) CheckRules(names []string) error {
	for _, b := range all {
		for _, s := range b.Settings {
			if !slices.Contains(names, s.Rule) {
				return fmt.Errorf("%s: there is no rule %s", path.Join(b.Path, Manifest), s.Rule)
			}
		}
	}
	return nil
}
