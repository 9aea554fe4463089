package explore_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/exploretest"
)

// killedDir is the environment variable of a child process of this test with the folder of its run.
const killedDir = "FSWARD_EXPLORE_KILLED"

// TestKilledRunGoesOn checks that a run that is killed repeatedly can be continued each time. It
// visits the states of a run that is not killed.
func TestKilledRunGoesOn(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		cfg := toyIn(dir, exploretest.EarlySync, 3, 2)
		cfg.Strategy = explore.Random
		if sum, err := explore.Run(context.Background(), cfg); err != nil || !sum.Complete {
			t.Fatal(sum, err)
		}
		return
	}
	whole := toy(t, exploretest.EarlySync, 3, 2)
	whole.Strategy = explore.Random
	begin := time.Now()
	want, err := explore.Run(context.Background(), whole)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	dir := toy(t, "", 1, 1).Dir
	killed := runAndKill(t, dir, took)
	got, err := explore.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if killed < 3 {
		t.Errorf("the run was killed %d times, want at least 3", killed)
	}
	if got.States != want.States || got.Runs != want.Runs || got.CrashStates < want.CrashStates ||
		len(got.Errors) != 1 || !got.Complete {
		t.Errorf("killed %d times: %+v; not killed: %+v", killed, got, want)
	}
	a, err := explore.Signatures(whole.Dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := explore.Signatures(dir)
	if err != nil || !slices.Equal(a, b) || uint64(len(a)) != want.States {
		t.Errorf("the states differ: %d without kills, %d with; %v", len(a), len(b), err)
	}
	t.Logf("killed %d times; %d states in %d executions", killed, got.States, got.Runs)
}

// runAndKill starts the run in a folder as a process, and kills the process after a random time,
// until the run ends. After 20 kills, it lets the run end. took is the duration of a whole run. It
// returns the number of kills.
func runAndKill(t *testing.T, dir string, took time.Duration) (killed int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for {
		c := exec.Command(os.Args[0], "-test.run=^TestKilledRunGoesOn$")
		c.Env = append(os.Environ(), killedDir+"="+dir)
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		patience := 20*time.Millisecond + time.Duration(random.Int64N(int64(took/8)))
		if killed >= 20 {
			patience = time.Minute
		}
		timer := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		err := c.Wait()
		if timer.Stop() && err != nil {
			t.Fatalf("after %d kills: %v: %s", killed, err, output.Bytes())
		}
		if err == nil {
			return killed
		}
		killed++
	}
}

// TestErrorFolderOfKilledRun checks that a run replaces the folder that it wrote for an error, if
// it was killed before it stored the error.
func TestErrorFolderOfKilledRun(t *testing.T) {
	ctx := context.Background()
	whole := toy(t, exploretest.EarlySync, 2, 1)
	want, err := explore.Run(ctx, whole)
	if err != nil || len(want.Errors) == 0 {
		t.Fatal(want, err)
	}
	again := toy(t, exploretest.EarlySync, 2, 1)
	left := filepath.Join(again.Dir, want.Errors[0].Dir)
	if err := os.CopyFS(left, os.DirFS(filepath.Join(whole.Dir, want.Errors[0].Dir))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "disk1.log"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := explore.Run(ctx, again)
	if err != nil || len(got.Errors) != len(want.Errors) {
		t.Fatal(got, err)
	}
	if _, err := os.Stat(filepath.Join(left, "disk1.log")); !os.IsNotExist(err) {
		t.Errorf("a file of the earlier folder is still there: %v", err)
	}
	if _, err := explore.ReadError(left); err != nil {
		t.Error(err)
	}
}
