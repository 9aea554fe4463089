package main

import (
	"strings"
	"testing"

	"fsward/explore/campaign"
)

// TestStatusTellsTheRate checks that a status says how long the rest takes, in a unit that people
// read, and that it says why it does not know.
func TestStatusTellsTheRate(t *testing.T) {
	for _, c := range []struct {
		rate float64
		left uint64
		want string
	}{
		{0, 100, "rate      not known before the first unit is done"},
		{2, 200, "rate      2.00 cases a second; the rest needs 1m40s at this rate"},
		{1, 36000, "rate      1.00 cases a second; the rest needs 10.0 hours at this rate"},
		{0.5, 254032, "rate      0.50 cases a second; the rest needs 5.9 days at this rate"},
		{2, 0, "rate      2.00 cases a second\n"},
	} {
		var out strings.Builder
		s := &campaign.Status{Tally: &campaign.Tally{}, Size: c.left, Left: c.left, Rate: c.rate}
		if err := statusTable(&out, s, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("rate %v, %d left: got\n%swant %q", c.rate, c.left, &out, c.want)
		}
	}
}

// TestStatusTellsIdle checks that a status says how a campaign continues whose workers were killed,
// and that their units wait.
func TestStatusTellsIdle(t *testing.T) {
	for _, c := range []struct {
		state campaign.State
		idle  bool
		says  bool
		units string
	}{
		{campaign.Running, true, true, "9 waiting, 0 with a worker"},
		{campaign.Running, false, false, "8 waiting, 1 with a worker"},
		{campaign.Paused, true, false, "9 waiting, 0 with a worker"},
	} {
		var out strings.Builder
		s := &campaign.Status{Tally: &campaign.Tally{}, State: string(c.state), Size: 9, Left: 9,
			Waiting: 8, Leased: 1}
		if err := statusTable(&out, s, c.idle); err != nil {
			t.Fatal(err)
		}
		says := strings.Contains(out.String(), "fsward campaign resume")
		if says != c.says || !strings.Contains(out.String(), c.units) {
			t.Errorf("%s, idle %v: got\n%s", c.state, c.idle, &out)
		}
	}
}
