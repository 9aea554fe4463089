package repair

import "testing"

// TestAllowed holds Allowed against table 1 of SWIFT, written out.
func TestAllowed(t *testing.T) {
	allowed := map[Outcome]Outcome{Consistent: Consistent, Left: Left, Partly: Left,
		Corrected: Consistent, Operational: Operational}
	for first := Unknown; first <= Operational; first++ {
		for second := Unknown; second <= Operational; second++ {
			want := first != Unknown && allowed[first] == second
			if got := Allowed(first, second); got != want {
				t.Errorf("%v then %v: allowed is %v", first, second, got)
			}
		}
	}
}

// TestClaimsOfChecks compares what a check says with what a repair says.
func TestClaimsOfChecks(t *testing.T) {
	for _, c := range []struct {
		first, check Outcome
		allowed      bool
		agrees       bool
	}{
		{Consistent, Consistent, true, true},
		{Corrected, Consistent, true, false},
		{Corrected, Left, false, true},
		{Operational, Left, true, true},
		{Left, Consistent, false, false},
		{Unknown, Left, false, true},
	} {
		if got := AllowedCheck(c.first, c.check); got != c.allowed {
			t.Errorf("%v, then a check that claims %v: allowed is %v", c.first, c.check, got)
		}
		if got := c.check.Agrees(c.first); got != c.agrees {
			t.Errorf("%v agrees with %v: %v", c.check, c.first, got)
		}
	}
}

func TestOutcomeText(t *testing.T) {
	for o := Unknown; o <= Operational; o++ {
		text, err := o.MarshalText()
		var back Outcome
		if err != nil || back.UnmarshalText(text) != nil || back != o {
			t.Errorf("%v became %q and %v", o, text, back)
		}
	}
	var o Outcome
	if o.UnmarshalText([]byte("fine")) == nil {
		t.Error("an outcome that does not exist was read")
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{0, "run", "0 runs"}, {1, "run", "1 run"}, {2, "run", "2 runs"},
		{1, "entry", "1 entry"}, {2, "entry", "2 entries"}, {2, "replay", "2 replays"},
		{2, "process crash", "2 process crashes"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
