package invariants

import (
	"bytes"
	"slices"
	"sync"

	"fsward/change"
	"fsward/invariants/compile"
)

// builtin has an engine of the built-in rules of each file system that was asked for. It judges
// nothing: engines are made of it by Again. So a process loads and compiles these rules once,
// however many disks it guards. The engines share what never changes, the rules and their programs.
var builtin struct {
	sync.Mutex
	engines map[string]builtinRules // by Schema.FS
}

type builtinRules struct {
	schema *change.Schema
	engine *Compiled
}

// builtinEngine returns an engine of the built-in rules; nil if files or options are other ones.
func builtinEngine(schema *change.Schema, files []File, options Options) *Compiled {
	if options.OpenVocabulary || len(options.Settings) > 0 || len(files) == 0 {
		return nil
	}
	shipped, err := Builtin(schema.FS)
	if err != nil || !slices.EqualFunc(files, shipped, sameFile) {
		return nil
	}
	builtin.Lock()
	defer builtin.Unlock()
	rules, known := builtin.engines[schema.FS]
	if !known {
		rules.schema = schema
		// The options are of each engine: see compile.Engine.Again.
		if rules.engine, err = compile.New(schema, shipped, Options{Late: true}); err != nil {
			return nil // the caller reports the mistakes
		}
		if builtin.engines == nil {
			builtin.engines = map[string]builtinRules{}
		}
		builtin.engines[schema.FS] = rules
	}
	if rules.schema != schema {
		return nil
	}
	return rules.engine
}

func sameFile(a, b File) bool {
	return a.Name == b.Name && a.Site == b.Site && bytes.Equal(a.Text, b.Text)
}
