package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fsward/hostd"
)

func rulesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Read, write, test and ask the invariants",
		Long: `A rule says, in Prolog, what a corrupt commit of a file system looks like. fsward runs all rules
over what each commit changed. These commands are for reading the rules, and for writing new ones:
docs/user/authoring.md leads through them, docs/user/rules.md describes the language.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(rulesListCommand(), rulesLintCommand(), rulesExplainCommand(), rulesQueryCommand(), rulesTestCommand(), rulesRunCommand(),
		rulesDocCommand(), rulesReloadCommand())
	return c
}

// addRulesFlags adds the flags that say how rules judge.
func addRulesFlags(c *cobra.Command, cfg *hostd.RulesConfig) {
	c.Flags().StringVar(&cfg.Dir, "rules", "", "use the rules in `DIR`/btrfs/*.pl and DIR/ext3/*.pl instead of the built-in ones")
	addJudgeFlags(c, &cfg.Engine, &cfg.Why, &cfg.Timing)
}

func addJudgeFlags(c *cobra.Command, engine *string, why, timing *bool) {
	c.Flags().StringVar(engine, "engine", hostd.Engines[0], "engine that runs the rules: "+strings.Join(hostd.Engines, " or "))
	c.Flags().BoolVar(why, "why", false, "explain each violation: the records and objects that made each goal of its rule true")
	c.Flags().BoolVar(timing, "timing", false, "tell what each rule cost")
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := hostd.CheckEngine(*engine); err != nil {
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
	var cfg hostd.RulesConfig
	var asJSON bool
	var timing hostd.TimingConfig
	c := &cobra.Command{
		Use:   "list [FS]",
		Short: "List the rules: number, sentence, severity, source",
		Long: `Lists the rules of one file system (btrfs, ext3) or of all: the number, the property in a sentence,
how bad a violation is, where the property comes from, and the file and line.

With --timing IMG it lists what each rule costs instead: the image is checked as by fsward check, or,
with --base, every commit of a log is judged as by fsward replay, and the time in each rule is added up.`,
		Example: "  fsward rules list\n  fsward rules list ext3 --json\n  fsward rules list --timing disk.img\n  fsward rules list --timing disk.log --base disk.base.img",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			systems := hostd.FileSystems()
			if len(args) == 1 {
				if !slices.Contains(systems, args[0]) {
					return usageError{fmt.Errorf("file system %q is not one of %s", args[0], strings.Join(systems, ", ")), c.CommandPath()}
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
				for _, r := range rules.List(fs) {
					if asJSON {
						if err := printJSON(ruleJSON{r.Name, fs, r.Doc, r.Severity, r.Source, r.Origin, r.User}); err != nil {
							return err
						}
						continue
					}
					fmt.Printf("%-10s %s\n%-10s %s; %s; from: %s\n", r.Name, r.Doc, "", r.Severity, r.Source, r.Origin)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&cfg.Dir, "rules", "", "list the rules in `DIR` instead of the built-in ones")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	c.Flags().StringVar(&timing.Target, "timing", "", "measure what each rule costs on `IMG|LOG`")
	c.Flags().StringVar(&timing.Base, "base", "", "`IMG` that the log of --timing starts from")
	return c
}

func listTiming(c *cobra.Command, cfg hostd.TimingConfig, asJSON bool) error {
	times, err := hostd.MeasureRules(c.Context(), cfg, newLog(false))
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
		fmt.Printf("%-10s %12s %12s %8d\n", t.Rule, total.Round(time.Microsecond), (total / time.Duration(max(t.Commits, 1))).Round(time.Microsecond), t.Commits)
	}
	return nil
}

func printJSON(v any) error {
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
