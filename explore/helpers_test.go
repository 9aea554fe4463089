package explore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// toy returns a configuration for a toy with a planted bug, in a new folder. Its checker puts
// values from 0 to values under keys.
func toy(t *testing.T, bug exploretest.Bug, keys, values int) explore.Config {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "fsward-explore-") // in memory, where syncing costs no time
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return toyIn(dir, bug, keys, values)
}

// toyIn does the same in an existing folder.
func toyIn(dir string, bug exploretest.Bug, keys, values int) explore.Config {
	s := exploretest.New()
	return explore.Config{System: s, Dir: dir, Stack: explore.Stack{Top: exploretest.NewToy(s, bug),
		Checker: &exploretest.ToyChecker{Keys: keys, Values: values}}}
}

// system returns the machine of a configuration.
func system(cfg explore.Config) *exploretest.System { return cfg.System.(*exploretest.System) }

// ignoreShell makes the machine accept every shell command, such as that which loads fsw_ekm.
func ignoreShell(cfg explore.Config) {
	system(cfg).Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		return agent.Exit{}, nil
	}
}

// readError reads the folder of error number i, from 0, of a run.
func readError(t *testing.T, cfg explore.Config, sum explore.Summary, i int) explore.Error {
	t.Helper()
	e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[i].Dir))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// replay replays an error, and returns the kind of the failure that shows; "": none shows.
func replay(t *testing.T, cfg explore.Config, e explore.Error) string {
	t.Helper()
	f, err := explore.Replay(context.Background(), cfg, e)
	if err != nil {
		t.Errorf("replay: %v", err)
	}
	if f == nil {
		return ""
	}
	return f.Kind
}
