package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fsward/explore"
	"fsward/explore/exploretest"
	"fsward/explore/spec"
)

// A survey asks each of each, and not again what it has asked. A file there that is no run is not
// taken for one.
func TestSurveyRuns(t *testing.T) {
	out := t.TempDir()
	names := func() (list []string) {
		t.Helper()
		runs, err := surveyRuns([]string{"ext3", "vfat"}, []string{"sync", "sync:sync", "reasonable"},
			spec.Run{Files: 1, Seed: 7}, out)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if r.Seed != 7 || len(r.Layers) != 1 ||
				(filepath.Base(r.dir) == "vfat-sync-sync") != (r.Layers[0].Component == "vfat" &&
					r.Layers[0].MountOptions == "sync") {
				t.Errorf("%s: %s, seed %d", r.dir, r.Spec, r.Seed)
			}
			list = append(list, filepath.Base(r.dir))
		}
		return list
	}
	want := []string{"ext3-sync", "ext3-sync-sync", "ext3-reasonable", "vfat-sync", "vfat-sync-sync",
		"vfat-reasonable"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := os.WriteFile(filepath.Join(out, "ext3-sync"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(out, "vfat-sync")
	system := exploretest.New()
	if _, err := explore.Run(t.Context(), explore.Config{System: system, Dir: run, Runs: 1,
		Origin: []byte("{}"), Stack: explore.Stack{
			Top: exploretest.NewToy(system, ""), Checker: &exploretest.ToyChecker{Keys: 1,
				Values: 1}}}); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, append(slices.Clone(want[:3]), want[4:]...)) {
		t.Errorf("after %s was made: %q", run, got)
	}
}

// A checker may have several mount options.
func TestSurveyOptions(t *testing.T) {
	runs, err := surveyRuns([]string{"ext4"}, []string{"sync:data=journal+commit=1"},
		spec.Run{Files: 1}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].Layers[0].MountOptions != "data=journal,commit=1" {
		t.Errorf("%+v", runs)
	}
}

// A run that a kernel cannot make does not cost the survey its guest.
func TestSurveySuits(t *testing.T) {
	for _, c := range []struct {
		fs    string
		place spec.Place
		suits bool
	}{{"exfat", spec.InGuest, true}, {"exfat", spec.InUserMode, false}, {"f2fs", "", false}} {
		runs, err := surveyRuns([]string{c.fs}, []string{"sync"}, spec.Run{Files: 1,
			RecoverIn: c.place}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = runs[0].suits("6.1.0-56-cloud-amd64")
		if _, unsuitable := errors.AsType[unsuitableError](err); unsuitable == c.suits {
			t.Errorf("%s in %q: %v", c.fs, c.place, err)
		}
	}
}
