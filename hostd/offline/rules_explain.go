package offline

import (
	"fmt"
	"io"
	"strings"

	"fsward/hostd/guard"
	"fsward/interp/detect"
	"fsward/invariants"
)

// ExplainRule returns the plans of a rule. rule is a name ("btrfs/17") or a number, which rules of
// several file systems may have.
func ExplainRule(rule string, cfg guard.RulesConfig) (plans []invariants.Plan, err error) {
	source, err := cfg.Source()
	if err != nil {
		return nil, err
	}
	for _, fs := range guard.FileSystems() {
		system, _, ok := strings.Cut(rule, "/")
		if ok && system != fs && !strings.HasPrefix(rule, invariants.SitePrefix) {
			continue
		}
		layers, err := source.Layers(fs)
		if err != nil {
			return nil, err
		}
		if system == fs && len(layers) == 0 {
			return nil, guard.NoRulesError{FS: fs, Dir: cfg.Dir}
		}
		for _, files := range layers {
			engine, err := invariants.NewCompiled(detect.Schema(fs), files, source.Options())
			if err != nil {
				return nil, fmt.Errorf("rules of %s: %w", fs, err)
			}
			if found, err := engine.Explain(rule); err == nil {
				plans = append(plans, found...)
			}
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("there is no rule %s: fsward rules list shows all rules", rule)
	}
	return plans, nil
}

// WritePlan writes for people how a clause of a rule is run.
func WritePlan(w io.Writer, p invariants.Plan) {
	fmt.Fprintf(w, "%s at %s\n", p.Rule, p.Source)
	if p.Reference != "" {
		fmt.Fprintf(w, "  interpreted by the reference engine: %s\n\n", p.Reference)
		return
	}
	trigger := p.Trigger
	if trigger == "" {
		trigger = "nothing: it runs for every commit"
	}
	fmt.Fprintf(w, "  started by  %s\n  cost        %s\n", trigger, p.BoundText())
	for i, s := range p.Steps {
		indent := strings.Repeat("  ", s.Depth)
		if s.Or {
			fmt.Fprintf(w, "   %sor\n", indent)
		}
		fmt.Fprintf(w, "  %2d %s%s\n       %s%s (%s)\n", i+1, indent, s.Goal, indent, s.Access, s.Class)
		if s.Warning != "" {
			fmt.Fprintf(w, "       warning: %s\n", s.Warning)
		}
	}
	fmt.Fprintln(w)
}
