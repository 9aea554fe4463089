package offline

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/zap"

	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// TimingConfig selects the image or the log that rules are measured on.
type TimingConfig struct {
	Target string // an image, or a log if Base is set
	Base   string // image that the log starts from
	Rules  guard.RulesConfig
}

// A RuleCost is the time of a rule over all commits that were checked.
type RuleCost struct {
	guard.RuleTime
	Commits int `json:"commits"`
}

// MeasureRules checks an image or a log and returns the time of each rule.
func MeasureRules(ctx context.Context, cfg TimingConfig, log *zap.Logger) ([]RuleCost, error) {
	cfg.Rules.Timing = true
	sum := &costs{byRule: map[string]int{}}
	if cfg.Base != "" {
		_, err := Replay(ctx, ReplayConfig{Disks: []ReplayDisk{{Base: cfg.Base, Log: cfg.Target}},
			FS: detect.Auto, Rules: cfg.Rules, KeepGoing: true, Sinks: []guard.Sink{sum}}, log)
		if err != nil {
			return nil, err
		}
	} else {
		ev, err := Check(ctx, []string{cfg.Target}, detect.Auto, cfg.Rules)
		if err != nil {
			return nil, err
		}
		sum.Event(ev)
	}
	if len(sum.list) == 0 {
		return nil, errors.New("nothing was measured: no commit was checked by an engine " +
			"that measures its rules")
	}
	slices.SortStableFunc(sum.list, func(a, b RuleCost) int {
		return guard.CompareNames(a.Rule,
			b.Rule)
	})
	return sum.list, nil
}

// costs is a Sink that adds up the times of rules.
type costs struct {
	list   []RuleCost
	byRule map[string]int
}

func (c *costs) Event(ev *guard.Event) {
	for _, t := range ev.RuleTimes {
		i, ok := c.byRule[t.Rule]
		if !ok {
			i = len(c.list)
			c.byRule[t.Rule] = i
			c.list = append(c.list, RuleCost{RuleTime: guard.RuleTime{Rule: t.Rule}})
		}
		c.list[i].NS += t.NS
		c.list[i].Commits++
	}
}
