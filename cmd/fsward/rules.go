package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/hostd/output"
	"fsward/invariants"
)

func rulesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Show, write, test and query the rules",
		Long: `A rule describes in Prolog what a corrupt commit of a file system looks like. fsward runs
all rules over the changes of each commit. These commands show the rules, and help to
write new ones. docs/user/authoring.md is a tutorial; docs/user/rules.md describes the
language.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(rulesListCommand(), rulesLintCommand(), rulesExplainCommand(), rulesQueryCommand(),
		rulesTestCommand(), rulesRunCommand(), rulesDocCommand(), rulesReloadCommand(),
		rulesExportCommand(), rulesBundleCommand(), rulesCoverageCommand(), rulesBenchCommand())
	return c
}

// addRulesFlags adds the flags that choose the rules and how they are run.
func addRulesFlags(c *cobra.Command, cfg *guard.RulesConfig) {
	c.Flags().StringVar(&cfg.Dir, "rules", "",
		"use the rules in `DIR`/btrfs/*.pl and DIR/ext3/*.pl instead of the built-in ones")
	addAddRules(c, &cfg.Add)
	addJudgeFlags(c, &cfg.Engine, &cfg.Why, &cfg.Timing)
}

// addAddRules adds the flag that names the rules of a site.
func addAddRules(c *cobra.Command, add *[]string) {
	c.Flags().StringArrayVar(add, "add-rules", nil, "use your own rules and settings in "+
		"`DIR|ZIP` (see docs/user/site-rules.md) beside the built-in ones; may be repeated")
}

func addJudgeFlags(c *cobra.Command, engine *string, why, timing *bool) {
	c.Flags().StringVar(engine, "engine", guard.Engines[0],
		"run the rules with this engine: "+strings.Join(guard.Engines, " or ")+", which is slow and "+
			"serves for comparison")
	c.Flags().BoolVar(why, "why", false,
		"explain each violation: the records and objects that made each goal of its rule true")
	c.Flags().BoolVar(timing, "timing", false, "print the time that each rule took")
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := guard.CheckEngine(*engine); err != nil {
			return usageError{err, c.CommandPath()}
		}
		if check != nil {
			return check(c, args)
		}
		return nil
	}
}

// ruleJSON is a rule in the JSON of rules list.
type ruleJSON struct {
	Name     string `json:"rule"`
	FS       string `json:"fs"`
	Sentence string `json:"sentence"`
	Severity string `json:"severity"`
	Source   string `json:"source"`
	Origin   string `json:"origin,omitempty"`
	User     string `json:"for_the_user,omitempty"`
}

func rulesListCommand() *cobra.Command {
	var cfg guard.RulesConfig
	var asJSON bool
	var timing offline.TimingConfig
	c := &cobra.Command{
		Use:   "list [FS]",
		Short: "List the rules: number, sentence, severity, source",
		Long: `Lists the rules of one file system (btrfs, ext3) or of all. Each entry has the number of
the rule, the sentence that says what must be true, the severity, the file and line, and
where the rule comes from.

With --timing, list measures instead how long each rule takes. It checks an image, as
fsward check does. With --base, it judges every commit of a log, as fsward replay does,
and adds up the time of each rule.`,
		Example: `  fsward rules list
  fsward rules list ext3 --json
  fsward rules list --timing disk.img
  fsward rules list --timing disk.log --base disk.base.img`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			systems := guard.FileSystems()
			if len(args) == 1 {
				if !slices.Contains(systems, args[0]) {
					return usageError{fmt.Errorf("file system %q is not one of %s", args[0],
						strings.Join(systems, ", ")), c.CommandPath()}
				}
				systems = args
			}
			if timing.Target != "" {
				timing.Rules = cfg
				return listTiming(c, timing, asJSON)
			}
			rules, err := cfg.Load()
			if err != nil {
				return err
			}
			for _, fs := range systems {
				list := rules.List(fs)
				if len(list) == 0 && len(args) == 1 {
					return guard.NoRulesError{FS: fs, Dir: cfg.Dir}
				}
				if err := printRules(fs, list, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&cfg.Dir, "rules", "", "list the rules in `DIR` instead of the built-in ones")
	addAddRules(c, &cfg.Add)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	c.Flags().StringVar(&timing.Target, "timing", "", "measure how long each rule takes on `IMG|LOG`")
	c.Flags().StringVar(&timing.Base, "base", "", "the log of --timing starts from `IMG`")
	return c
}

// printRules prints the rules of a file system.
func printRules(fs string, rules []invariants.Rule, asJSON bool) error {
	for _, r := range rules {
		if asJSON {
			if err := printJSON(ruleJSON{r.Name, fs, r.Doc, r.Severity, r.Source, r.Origin,
				r.User}); err != nil {
				return err
			}
			continue
		}
		name := r.Name
		for _, text := range []string{r.Doc, r.Severity + "; " + r.Source, "from: " + r.Origin} {
			for _, line := range wrapped(text, 88) {
				fmt.Printf("%-10s %s\n", name, line)
				name = ""
			}
		}
	}
	return nil
}

func listTiming(c *cobra.Command, cfg offline.TimingConfig, asJSON bool) error {
	times, err := offline.MeasureRules(c.Context(), cfg, newLog(false))
	if err != nil {
		return err
	}
	if !asJSON {
		fmt.Printf("%-10s %12s %12s %8s\n", "RULE", "TOTAL", "PER COMMIT", "COMMITS")
	}
	for _, t := range times {
		if asJSON {
			if err := printJSON(t); err != nil {
				return err
			}
			continue
		}
		total := time.Duration(t.NS)
		fmt.Printf("%-10s %12s %12s %8d\n", t.Rule, total.Round(time.Microsecond),
			(total / time.Duration(max(t.Commits, 1))).Round(time.Microsecond), t.Commits)
	}
	return nil
}

// printJSON prints an object as a line.
func printJSON(v any) error { return output.NewLines(os.Stdout, "").Print(v) }
