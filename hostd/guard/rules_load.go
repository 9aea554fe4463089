package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"fsward/interp/detect"
	"fsward/invariants"
	"fsward/invariants/bundle"
)

// A ruleSet has the rules of each file system, since the file system of a disk may appear later.
type ruleSet struct {
	systems map[string]*systemRules
	source  *Source
	info    RuleSetInfo
}

// systemRules are the rules of one file system.
type systemRules struct {
	engine *invariants.Layers
	layers []*ruleLayer

	once     sync.Once
	prepared atomic.Bool // the engine can judge at once
}

// prepare compiles the rules, if that was put off. Several goroutines may call it.
func (s *systemRules) prepare() {
	s.once.Do(func() {
		s.engine.Prepare()
		s.prepared.Store(true)
	})
}

// A ruleLayer is the rules of fsward, or those of a site.
type ruleLayer struct {
	engine  invariants.Engine
	files   []invariants.File
	rules   map[string]bool          // their names
	session *invariants.QuerySession // made when a violation is first explained
}

// A NoRulesError says that there are no rules for a file system.
type NoRulesError struct{ FS, Dir string }

func (e NoRulesError) Error() string {
	if e.Dir == "" {
		return "there are no rules for " + e.FS
	}
	return fmt.Sprintf("there are no rules for %s: no .pl files in %s", e.FS,
		filepath.Join(e.Dir, e.FS))
}

// FileSystems lists the subjects of rules: see detect.RuleSets.
func FileSystems() []string { return detect.RuleSets() }

// RuleFiles returns the rules of a file system. The error is a NoRulesError if dir has no folder
// for it, or an empty one.
func RuleFiles(dir, fileSystem string) ([]invariants.File, error) {
	if dir == "" {
		return invariants.Builtin(fileSystem)
	}
	files, err := invariants.ReadDir(filepath.Join(dir, fileSystem))
	if err == nil && len(files) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil, NoRulesError{fileSystem, dir}
	}
	return files, err
}

// RuleFilesOrNone is RuleFiles that returns nil where there are none.
func RuleFilesOrNone(dir, fileSystem string) ([]invariants.File, error) {
	files, err := RuleFiles(dir, fileSystem)
	if _, none := errors.AsType[NoRulesError](err); none {
		return nil, nil
	}
	return files, err
}

// A Source is where the rules of a configuration come from, read once.
type Source struct {
	config  RulesConfig
	bundles bundle.Bundles
	options invariants.Options // with the settings of all bundles
}

// Source opens the bundles of the configuration.
func (c RulesConfig) Source() (*Source, error) {
	bundles, err := bundle.OpenAll(c.Add)
	if err != nil {
		return nil, err
	}
	s := &Source{config: c, bundles: bundles}
	s.options = invariants.Options{Settings: bundles.ByRule(), StreamProgress: c.StreamProgress,
		Late: c.BuiltIn()}
	for _, fs := range FileSystems() {
		s.options.Others = append(s.options.Others, detect.Schema(fs))
	}
	return s, s.known()
}

// known returns an error if a setting is of a rule that does not exist.
func (s *Source) known() error {
	if len(s.options.Settings) == 0 {
		return nil
	}
	var names []string
	for _, fs := range FileSystems() {
		layers, err := s.Layers(fs)
		if err != nil {
			return err
		}
		for _, files := range layers {
			rules, err := invariants.ListRules(detect.Schema(fs), files, invariants.Options{})
			if err != nil {
				return fmt.Errorf("rules of %s: %w", fs, err)
			}
			for _, r := range rules {
				names = append(names, r.Name)
			}
		}
	}
	return s.bundles.CheckRules(names)
}

// Layers returns the files with the rules of a file system: those of fsward or of Dir, then those
// of the bundles. Each is loaded by itself. There are none if the file system has no rules.
func (s *Source) Layers(fileSystem string) (layers [][]invariants.File, err error) {
	files, err := RuleFilesOrNone(s.config.Dir, fileSystem)
	if err != nil {
		return nil, err
	}
	if files != nil {
		layers = append(layers, files)
	}
	site, err := s.bundles.Rules(fileSystem)
	if site != nil {
		layers = append(layers, site)
	}
	return layers, err
}

// Options returns the options with which the rules are loaded.
func (s *Source) Options() invariants.Options { return s.options }

func (c RulesConfig) load() (*ruleSet, error) {
	source, err := c.Source()
	if err != nil {
		return nil, err
	}
	set := &ruleSet{systems: map[string]*systemRules{}, source: source}
	for _, name := range FileSystems() {
		system, err := source.system(name, c.Engine)
		if err != nil {
			return nil, err
		}
		if system != nil {
			set.systems[name] = system
		}
	}
	if len(set.systems) == 0 {
		return nil, fmt.Errorf("no rules in %s: expected files such as %s", c.Dir,
			filepath.Join(c.Dir, "btrfs", "mine.pl"))
	}
	set.describe(source)
	return set, nil
}

// Engine loads the rules of a file system into the engine of a name. The error is a NoRulesError if
// there are none.
func (s *Source) Engine(fs, engine string) (*invariants.Layers, error) {
	system, err := s.system(fs, engine)
	if err != nil {
		return nil, err
	}
	if system == nil {
		return nil, NoRulesError{fs, s.config.Dir}
	}
	return system.engine, nil
}

// again loads the rules in force once more, as they were read, for a check that runs beside the
// guard. memory is that of RulesConfig, and progress that of the engine's options.
func (r *Rules) again(memory uint64, progress func(done, total int)) (*Rules, error) {
	set := r.set.Load()
	source := *set.source
	source.config.Memory = memory
	source.options.Progress = progress
	next := &ruleSet{systems: map[string]*systemRules{}, source: &source, info: set.info}
	for name, system := range set.systems {
		var err error
		if next.systems[name], err = system.again(name, &source); err != nil {
			return nil, err // not reached: the same text is in force
		}
	}
	out := &Rules{config: source.config}
	out.set.Store(next)
	return out, nil
}

// again returns engines of the same layers with the options of a source. Compiled engines share
// their programs.
func (s *systemRules) again(fs string, source *Source) (*systemRules, error) {
	out := &systemRules{}
	var engines []invariants.Engine
	for _, l := range s.layers {
		layer := &ruleLayer{files: l.files, rules: l.rules}
		var err error
		if compiled, ok := l.engine.(*invariants.Compiled); ok {
			layer.engine, err = compiled.Again(source.options)
		} else {
			layer.engine, err = NewEngine(source.config.Engine, detect.Schema(fs), l.files, source.options)
		}
		if err != nil {
			return nil, err
		}
		out.layers, engines = append(out.layers, layer), append(engines, layer.engine)
	}
	out.engine = invariants.NewLayers(source.bundles, engines...)
	return out, nil
}

// system loads the rules of a file system; nil if there are none.
func (s *Source) system(fs, engineName string) (*systemRules, error) {
	layers, err := s.Layers(fs)
	if err != nil || len(layers) == 0 {
		return nil, err
	}
	return s.systemOf(fs, engineName, layers)
}

// systemOf loads the layers of a file system.
func (s *Source) systemOf(fs, engineName string, layers [][]invariants.File) (*systemRules, error) {
	out := &systemRules{}
	var engines []invariants.Engine
	for _, files := range layers {
		engine, err := NewEngine(engineName, detect.Schema(fs), files, s.options)
		if err != nil {
			return nil, fmt.Errorf("rules of %s: %w", fs, err)
		}
		layer := &ruleLayer{engine: engine, files: files, rules: map[string]bool{}}
		for _, r := range engine.Rules() {
			layer.rules[r.Name] = true
		}
		out.layers, engines = append(out.layers, layer), append(engines, engine)
	}
	out.engine = invariants.NewLayers(s.bundles, engines...)
	return out, nil
}

// IsSite reports whether a rule is a site's own.
func IsSite(rule string) bool { return strings.HasPrefix(rule, invariants.SitePrefix) }
