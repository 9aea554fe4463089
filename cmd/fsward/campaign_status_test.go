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
		if err := statusTable(&out, s); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("rate %v, %d left: got\n%swant %q", c.rate, c.left, &out, c.want)
		}
	}
}

// TestStatusTellsIdle checks that a status says how a campaign continues whose workers were killed.
func TestStatusTellsIdle(t *testing.T) {
	for _, c := range []struct {
		state  campaign.State
		leased uint64
		want   bool
	}{
		{campaign.Running, 0, true}, {campaign.Running, 1, false}, {campaign.Paused, 0, false},
	} {
		var out strings.Builder
		s := &campaign.Status{Tally: &campaign.Tally{}, State: string(c.state), Size: 9, Left: 9,
			Waiting: 9, Leased: c.leased}
		if err := statusTable(&out, s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "fsward campaign resume"); got != c.want {
			t.Errorf("%s, %d leased: got\n%s", c.state, c.leased, &out)
		}
	}
}
