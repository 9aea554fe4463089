package explore_test

import (
	"context"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// apart lets a second machine recover the crash states of a configuration. It counts the commands
// on that machine.
func apart(cfg *explore.Config) (commands *int) {
	second := exploretest.New()
	commands = new(int)
	for name, program := range system(*cfg).Programs {
		second.Programs[name] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
			*commands++
			return program(s, c)
		}
	}
	cfg.Recovery = second
	return commands
}

// A run whose crash states are recovered on a second machine finds what it finds on one, and the
// error replays.
func TestRecoverApart(t *testing.T) {
	for _, bug := range []exploretest.Bug{"", exploretest.DroppedFlush} {
		one, two := toy(t, bug, 2, 1), toy(t, bug, 2, 1)
		one.Depth, two.Depth = 2, 2
		commands := apart(&two)
		want, err := explore.Run(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		got, err := explore.Run(t.Context(), two)
		if err != nil {
			t.Fatal(err)
		}
		if got.CrashStates != want.CrashStates || got.Recovered != want.Recovered ||
			len(got.Errors) != len(want.Errors) || (len(want.Errors) > 0) != (bug != "") {
			t.Errorf("bug %q: apart %+v, on one machine %+v", bug, got, want)
		}
		if *commands == 0 {
			t.Errorf("bug %q: the second machine was not used", bug)
		}
		if bug == "" {
			continue
		}
		f, err := explore.Replay(t.Context(), two, readError(t, two, got, 0))
		if err != nil || f == nil {
			t.Errorf("the replay: %v, %v", f, err)
		}
	}
}

// Options that need the log or fsw_ekm during a recovery are refused, and name the reason.
func TestCannotRecoverApart(t *testing.T) {
	for want, change := range map[string]func(*explore.Config){
		"log of its writes":       func(c *explore.Config) { c.RecoveryCrashes = true },
		"the writes of recover":   func(c *explore.Config) { c.Strategy = explore.MostRecovery },
		"injected faults":         func(c *explore.Config) { c.MaxFaults = 1 },
		"choices of the kernel":   func(c *explore.Config) { c.KernelChoices = true },
		"without recovery":        func(c *explore.Config) { c.HostOnly = true },
		"the checker asks for no": func(c *explore.Config) { c.Stack.Checker = crashless{} },
	} {
		cfg := toy(t, "", 1, 1)
		apart(&cfg)
		change(&cfg)
		if _, err := explore.Run(context.Background(), cfg); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// crashless is a checker that asks for no crashes.
type crashless struct{ explore.Plain }

func (crashless) Crashless() {}

func (crashless) Mutate(*explore.Env) error { return nil }

func (crashless) Check(*explore.Env, explore.Crash) error { return nil }
