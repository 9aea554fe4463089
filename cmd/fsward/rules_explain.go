package main

import (
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/invariants"
)

// planJSON is a plan in the JSON of rules explain.
type planJSON struct {
	Rule      string     `json:"rule"`
	Source    string     `json:"source"`
	Trigger   string     `json:"trigger"`
	Cost      string     `json:"cost,omitempty"`
	Steps     []stepJSON `json:"steps"`
	Reference string     `json:"reference,omitempty"`
}

type stepJSON struct {
	Goal    string           `json:"goal"`
	Access  string           `json:"access"`
	Class   invariants.Class `json:"class"`
	Depth   int              `json:"depth"`
	Or      bool             `json:"or,omitempty"`
	Warning string           `json:"warning,omitempty"`
}

// planOf returns the JSON of a plan.
func planOf(p invariants.Plan) planJSON {
	out := planJSON{Rule: p.Rule, Source: p.Source, Trigger: p.Trigger, Steps: []stepJSON{},
		Reference: p.Reference}
	if p.Reference == "" {
		out.Cost = p.BoundText()
	}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, stepJSON{s.Goal, s.Access, s.Class, s.Depth, s.Or, s.Warning})
	}
	return out
}

func rulesExplainCommand() *cobra.Command {
	var cfg guard.RulesConfig
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain RULE",
		Short: "Show the plan of a rule: what triggers it, the order of its goals, what each costs",
		Long: `Shows the plan of each clause of a rule: the change that triggers it, and its goals in
the order in which they run. This order can differ from the order in the text. Below each
goal stands how it is answered, and how its cost grows. The goal costs this once for each
answer of the goals before it. "or" separates the branches of a disjunction. The cost of
a goal grows:

  constant    not at all: a test, or a record found by its key
  log n       with the depth of a tree on the disk
  directory   with the entries of a directory, or the parts of a file
  tree        with all records of the commit, or all objects of a kind

"cost" is a bound of what the whole plan goes through: a sum of products, such as
n · names of one hash. n is the number of changes that start the plan. "once" stands
behind a part that is read once for all of them. The bound leaves out factors that grow with
the depth of a tree on the disk.

If a clause cannot be compiled, the slow reference engine runs it, and explain shows the
reason. RULE is a number, or a name such as btrfs/17.`,
		Example: "  fsward rules explain btrfs/17\n  fsward rules explain 101 --rules my-rules",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			plans, err := offline.ExplainRule(args[0], cfg)
			if err != nil {
				return err
			}
			for _, p := range plans {
				if !asJSON {
					offline.WritePlan(os.Stdout, p)
					continue
				}
				if err := printJSON(planOf(p)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addAddRules(c, &cfg.Add)
	c.Flags().StringVar(&cfg.Dir, "rules", "",
		"explain a rule in `DIR`/btrfs/*.pl or DIR/ext3/*.pl instead of the built-in ones")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line, one for each plan")
	return c
}
