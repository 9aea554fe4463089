package offline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fsward/interp"
	"fsward/interp/detect"
)

// A wantedCommit is a commit of a recording by its generation, or if log is not 0 the log commit of
// that number in it: 1 is the first after the commit.
type wantedCommit struct {
	generation uint64
	log        int
}

func (w wantedCommit) String() string {
	if w.log > 0 {
		return fmt.Sprintf("%d.%d", w.generation, w.log)
	}
	return fmt.Sprint(w.generation)
}

// splitCommit splits LOG, LOG@GENERATION or LOG@GENERATION.LOGCOMMIT.
func splitCommit(target string) (log string, w wantedCommit, err error) {
	log, text, ok := strings.Cut(target, "@")
	if !ok {
		return target, w, nil
	}
	commit, of, isLog := strings.Cut(text, ".")
	w.generation, err = strconv.ParseUint(commit, 10, 64)
	if err == nil && isLog {
		w.log, err = strconv.Atoi(of)
	}
	if err != nil || w.generation == 0 || isLog && w.log < 1 {
		return "", w, fmt.Errorf("%s: @ must be followed by the generation of a commit, as fsward "+
			"replay shows it, or by that and the number of a log commit after it: @8.1", target)
	}
	return log, w, nil
}

// queryLog asks about the wanted commit of each volume in a log that has one.
func (cfg QueryConfig) queryLog(ctx context.Context, ask func(*Querier) error) error {
	if len(cfg.Targets) != 1 {
		return fmt.Errorf("a goal is about one log, but %d logs were given", len(cfg.Targets))
	}
	log, wanted, err := splitCommit(cfg.Targets[0])
	if err != nil {
		return err
	}
	s := &commitSearch{cfg: cfg, wanted: wanted, ask: ask, found: make(map[int]bool)}
	if wanted.generation == 0 { // the last commit of each, which is known only at the end
		s.last = make(map[int]uint64)
		if err := cfg.replay(ctx, log, s.noteLast); err != nil {
			return err
		}
	}
	s.logs = make(map[int]int)
	err = cfg.replay(ctx, log, s.look)
	if err != nil && !errors.Is(err, errSeen) {
		return err
	}
	if len(s.found) == 0 {
		return fmt.Errorf("no commit %s in %s: fsward replay lists them", wanted, log)
	}
	return errors.Join(s.errs...)
}

// replay calls see for each commit and log commit of a log. It runs no rules.
func (cfg QueryConfig) replay(ctx context.Context, log string,
	see func(v *detect.Volumes, volume int, obs interp.Observation) error) error {
	s := &splitter{see: see, visit: func(*Transaction) error { return nil }}
	return s.walk(ctx, []ReplayDisk{{Base: cfg.Base, Log: log}}, cfg.FS)
}

// errSeen ends a replay when the wanted commit of every volume was seen.
var errSeen = errors.New("the commit was found")

// A commitSearch looks for the wanted commit of each volume. Its keys are numbers of volumes.
type commitSearch struct {
	cfg    QueryConfig
	wanted wantedCommit
	ask    func(*Querier) error
	last   map[int]uint64 // generation of the last commit; nil: wanted has the generation
	logs   map[int]int    // log commits since the commit of the wanted generation
	found  map[int]bool
	errs   []error
}

func (s *commitSearch) noteLast(_ *detect.Volumes, volume int, obs interp.Observation) error {
	if obs.Point == interp.CommitPoint {
		s.last[volume] = obs.Generation
	}
	return nil
}

// look asks about a commit if it is the wanted one of its volume. The error is errSeen after the
// last.
func (s *commitSearch) look(v *detect.Volumes, volume int, obs interp.Observation) error {
	w := s.wanted
	if s.last != nil {
		w.generation = s.last[volume]
	}
	if obs.Generation != w.generation || s.found[volume] {
		return nil
	}
	if obs.Point == interp.LogPoint {
		s.logs[volume]++
	}
	isWanted := obs.Point == interp.CommitPoint && w.log == 0 ||
		obs.Point == interp.LogPoint && w.log > 0 && w.log == s.logs[volume]
	if !isWanted {
		return nil
	}
	s.found[volume] = true
	of := subject{fs: v.FS(), volume: v.State(volume).Path}
	s.errs = append(s.errs, onVolume(of.volume, s.cfg.askEach(of, obs, w.log, s.ask)))
	for _, i := range v.Numbers() {
		if v.On(i) != "" && !s.found[i] {
			return nil
		}
	}
	return errSeen
}

// askEach asks about a commit, or about the log of each tree in a log commit.
func (cfg QueryConfig) askEach(of subject, obs interp.Observation, log int,
	ask func(*Querier) error) error {
	if log == 0 || len(obs.Logs) == 0 {
		return cfg.ask(of, obs, ask)
	}
	of.part = fmt.Sprintf("log commit %d", log)
	for _, part := range obs.Logs {
		one := obs
		one.Txn, one.View = part.Txn, part.View
		if err := cfg.ask(of, one, ask); err != nil {
			return err
		}
	}
	return nil
}
