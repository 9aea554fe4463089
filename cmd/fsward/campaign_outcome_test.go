package main

import (
	"errors"
	"testing"

	"fsward/change"
	"fsward/explore/campaign"
)

// TestCampaignOutcome checks that a finding that cannot be read is never taken for none.
func TestCampaignOutcome(t *testing.T) {
	failure, surprise := campaign.Finding{Kind: "a"}, campaign.Finding{Kind: "b", Surprise: true}
	for _, c := range []struct {
		list     []campaign.Finding
		bad      uint64
		complete bool
		want     change.Outcome
	}{
		{complete: true, want: change.Holds},
		{list: []campaign.Finding{surprise}, complete: true, want: change.Holds},
		{list: []campaign.Finding{surprise, failure}, complete: true, want: change.Violated},
		{want: change.Undecided},
		{bad: 1, complete: true, want: change.Undecided},
	} {
		got := change.Holds
		if e, ok := errors.AsType[outcomeError](campaignOutcome(c.list, c.bad, c.complete)); ok {
			got = e.outcome
		}
		if got != c.want {
			t.Errorf("%d findings, %d bad, complete %v: %v, want %v", len(c.list), c.bad, c.complete, got,
				c.want)
		}
	}
}
