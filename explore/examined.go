package explore

import "fmt"

// A Crashless is a Checker that by design requests no crashes.
type Crashless interface{ Crashless() }

// CountCommand counts a command of the checker that is allowed to fail. A run whose commands have
// all failed has examined nothing.
func (e *Env) CountCommand(failed bool) {
	e.commands.Commands++
	if failed {
		e.commands.CommandsFailed++
	}
}

// commandCount counts the commands of a checker that are allowed to fail.
type commandCount struct {
	Commands       uint64 `json:"commands,omitempty"`
	CommandsFailed uint64 `json:"commands_failed,omitempty"`
}

// Unexamined says why a run that found no error has shown nothing; "": it has examined something.
func (s *Summary) Unexamined() string {
	switch {
	case s.Broken() > 0:
		return ""
	case s.CutShort > 0:
		return ""
	case s.Runs == 0 && s.Diverged > 0:
		return fmt.Sprintf("all %d steps diverged in a replay", s.Diverged)
	case s.Unjudged > 0 && s.CrashStates+s.ProcessCrashes == 0:
		return fmt.Sprintf("%d steps or crash states were not judged, because a command exceeded its "+
			"limit, and no other one was examined", s.Unjudged)
	case s.Runs == 0:
		return "the time was up before the first step was done"
	case s.Commands > 0 && s.CommandsFailed == s.Commands:
		return fmt.Sprintf("all %d commands of the checker failed", s.Commands)
	case s.Crashless || s.CrashStates+s.ProcessCrashes > 0:
		return ""
	case s.Possible > 0:
		return "the time was up before the first crash state was examined"
	}
	return fmt.Sprintf("no crash state was examined, because none of the %d steps asked for a crash",
		s.Runs)
}
