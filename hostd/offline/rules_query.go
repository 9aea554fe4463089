package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/qemudisk"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/output"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/invariants"
)

// QueryConfig says what goals are about, and their bounds.
type QueryConfig struct {
	// images of the disks of one file system, IMG or IMG:VOLUME; or one log, optionally with
	// @GENERATION appended
	Targets []string
	Base    string // image that the log starts from; "" if Targets are images
	FS      string
	Rules   guard.RulesConfig // rules whose helpers goals may use
	Steps   int64             // budget of a goal; 0 for that of rules
	Limit   int               // number of answers to a goal
}

// A Querier answers goals about one transaction.
type Querier struct {
	prober *invariants.QuerySession
	obs    interp.Observation
	limit  int
	Title  string // describes the transaction: "btrfs generation 8, 412 records"
}

// Query opens the images of a file system or a commit of a log and calls ask. The Querier can be
// used until ask returns.
func Query(ctx context.Context, cfg QueryConfig, ask func(*Querier) error) error {
	if cfg.Base == "" {
		images, wanted := splitVolumes(cfg.Targets)
		disks, err := openImages(images)
		if err != nil {
			return err
		}
		defer disks.Close()
		g, err := oneFileSystem(disks, cfg.FS, wanted)
		if err != nil {
			return err
		}
		name, obs, err := detect.Image(g.Disk, g.FS)
		if err != nil {
			return err
		}
		return cfg.ask(name, obs, ask)
	}
	if len(cfg.Targets) != 1 {
		return fmt.Errorf("goals are about one log, and %d were given", len(cfg.Targets))
	}
	log, wanted, err := splitCommit(cfg.Targets[0])
	if err != nil {
		return err
	}
	if wanted.generation == 0 { // the last commit, which is known only at the end
		if err := cfg.replay(ctx, log, func(_ string, obs interp.Observation) (bool, error) {
			if obs.Point == interp.CommitPoint {
				wanted.generation = obs.Generation
			}
			return false, nil
		}); err != nil {
			return err
		}
	}
	found, logs := false, 0
	err = cfg.replay(ctx, log, func(name string, obs interp.Observation) (bool, error) {
		if obs.Generation != wanted.generation {
			return false, nil
		}
		if obs.Point == interp.LogPoint {
			logs++
		}
		if found = wanted.log == 0 && obs.Point == interp.CommitPoint ||
			wanted.log > 0 && obs.Point == interp.LogPoint && wanted.log == logs; !found {
			return false, nil
		}
		return true, cfg.askEach(name, obs, wanted.log, ask)
	})
	if err == nil && !found {
		err = fmt.Errorf("no commit %s in %s: fsward replay lists them", wanted, log)
	}
	return err
}

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

// askEach asks about a commit, or about the log of each tree in a log commit.
func (cfg QueryConfig) askEach(fs string, obs interp.Observation, log int,
	ask func(*Querier) error) error {
	if log == 0 || len(obs.Logs) == 0 {
		return cfg.ask(fs, obs, ask)
	}
	for _, part := range obs.Logs {
		of := obs
		of.Txn, of.View = part.Txn, part.View
		if err := cfg.ask(fs, of, func(q *Querier) error {
			q.Title += fmt.Sprintf(", log commit %d", log)
			return ask(q)
		}); err != nil {
			return err
		}
	}
	return nil
}

// replay calls see for each commit and log commit of a log, until see returns done. It runs no
// rules.
func (cfg QueryConfig) replay(ctx context.Context, log string,
	see func(fs string, obs interp.Observation) (done bool, err error)) error {
	base, err := qemudisk.OpenImage(cfg.Base)
	if err != nil {
		return err
	}
	defer base.Close()
	recording, err := trace.Open(log)
	if err != nil {
		return err
	}
	defer recording.Close()
	disk, err := overlay.New(base)
	if err != nil {
		return err
	}
	defer disk.Close()
	follower, err := detect.Follow(disk, cfg.FS)
	if err != nil {
		return fmt.Errorf("%s: %w", cfg.Base, err)
	}
	merged, err := trace.Merge(recording.Reader)
	if err != nil {
		return err
	}
	err = Feed(ctx, []*blocktap.Device{blocktap.NewDevice(disk, &onlooker{follower, see})}, merged)
	if errors.Is(err, errSeen) {
		return nil
	}
	return err
}

// errSeen ends a replay when the wanted commit was seen.
var errSeen = errors.New("the commit was found")

// An onlooker is a hook that lets every write through and shows the commits and log commits.
type onlooker struct {
	interp interp.Interpreter
	see    func(fs string, obs interp.Observation) (done bool, err error)
}

func (o *onlooker) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	obs := o.interp.Observe(guard.WriteOf(r))
	if obs.Point == interp.CommitPoint || obs.Point == interp.LogPoint {
		done, err := o.see(o.interp.FS(), obs)
		if err == nil && done {
			err = errSeen
		}
		if err != nil {
			o.interp.Settle(false)
			return err
		}
	}
	err := do()
	o.interp.Settle(err == nil)
	return err
}

func (cfg QueryConfig) ask(fs string, obs interp.Observation, ask func(*Querier) error) error {
	switch {
	case obs.Unknown != nil:
		return obs.Unknown
	case obs.Txn == nil:
		return fmt.Errorf("the structure of this %s is violated, so it cannot be queried: %s", fs,
			structureText(obs))
	}
	files, options, err := cfg.files(fs)
	if err != nil {
		return err
	}
	if cfg.Steps > 0 {
		options.Steps, options.StepsPerRecord = cfg.Steps, 1
	}
	prober, err := invariants.NewQuerySession(obs.Txn.Schema, files, options)
	if err != nil {
		return err
	}
	return ask(&Querier{prober, obs, cfg.Limit, fmt.Sprintf("%s generation %d, %d records", fs,
		obs.Generation, len(obs.Txn.Records))})
}

// files returns the rules whose helpers goals may use: those of a site, if some are added.
func (cfg QueryConfig) files(fs string) ([]invariants.File, invariants.Options, error) {
	source, err := cfg.Rules.Source()
	if err != nil {
		return nil, invariants.Options{}, err
	}
	layers, err := source.Layers(fs)
	if err == nil && len(layers) == 0 {
		err = guard.NoRulesError{FS: fs, Dir: cfg.Rules.Dir}
	}
	if err != nil {
		return nil, invariants.Options{}, err
	}
	return layers[len(layers)-1], source.Options(), nil
}

func structureText(obs interp.Observation) string {
	if len(obs.Violations) == 0 {
		return "no reason is known"
	}
	v := obs.Violations[0]
	return v.Rule + ": " + v.Doc + " " + v.Detail
}

// Ask answers a goal.
func (q *Querier) Ask(ctx context.Context, goal string) (*invariants.Answers, error) {
	return q.prober.Ask(ctx, q.obs.Txn, q.obs.View, goal, q.limit)
}

// Words returns the words that a goal may contain, sorted, for completion: predicates, kinds,
// fields, atoms.
func (q *Querier) Words() []string {
	var words []string
	for _, p := range q.prober.Predicates() {
		name, _, _ := strings.Cut(p, "/")
		if name != "" && name[0] >= 'a' && name[0] <= 'z' {
			words = append(words, name)
		}
	}
	s := q.obs.Txn.Schema
	for _, k := range s.Kinds[1:] {
		words = append(words, k.Name)
	}
	words = append(append(words, s.Fields...), s.Words...)
	slices.Sort(words)
	return slices.Compact(words)
}

// Complete completes the word that ends at pos of a line by the longest common prefix of the words
// that begin so. choices are these words.
func (q *Querier) Complete(line string, pos int) (newLine string, newPos int, choices []string) {
	start := pos
	for start > 0 && (line[start-1] == '_' || line[start-1] >= '0' && line[start-1] <= '9' ||
		line[start-1] >= 'a' && line[start-1] <= 'z') {
		start--
	}
	prefix := line[start:pos]
	common := ""
	for _, w := range q.Words() {
		if prefix == "" || !strings.HasPrefix(w, prefix) {
			continue
		}
		if len(choices) == 0 {
			common = w
		}
		for !strings.HasPrefix(w, common) {
			common = common[:len(common)-1]
		}
		choices = append(choices, w)
	}
	if len(choices) == 0 {
		return line, pos, nil
	}
	return line[:start] + common + line[pos:], start + len(common), choices
}

// WriteAnswers writes answers as a table, or with asJSON as one object a line.
func WriteAnswers(w io.Writer, a *invariants.Answers, asJSON bool) error {
	if asJSON {
		return writeAnswerLines(w, a)
	}
	switch {
	case len(a.Rows) == 0:
		fmt.Fprintln(w, "no answers")
		return nil
	case len(a.Variables) == 0:
		fmt.Fprintln(w, "yes")
		return nil
	}
	width := make([]int, len(a.Variables))
	for i, v := range a.Variables {
		width[i] = len(v)
		for _, row := range a.Rows {
			width[i] = max(width[i], len(row[i].Text))
		}
	}
	writeRow := func(cell func(i int) string) {
		var b strings.Builder
		for i := range a.Variables {
			fmt.Fprintf(&b, "%-*s  ", width[i], cell(i))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	writeRow(func(i int) string { return a.Variables[i] })
	for _, row := range a.Rows {
		writeRow(func(i int) string { return row[i].Text })
	}
	if a.More {
		fmt.Fprintf(w, "and more: only the first %d answers are shown (--limit)\n", len(a.Rows))
	}
	return nil
}

func writeAnswerLines(w io.Writer, a *invariants.Answers) error {
	lines := output.NewLines(w, "")
	for _, row := range a.Rows {
		object := map[string]any{}
		for i, x := range row {
			if x.Number {
				object[a.Variables[i]] = json.Number(x.Text)
			} else {
				object[a.Variables[i]] = x.Text
			}
		}
		if err := lines.Print(object); err != nil {
			return err
		}
	}
	return nil
}

// Fields writes the kinds of objects with their fields, for people who write goals.
func (q *Querier) Fields(w io.Writer) { WriteSchema(w, q.obs.Txn.Schema) }

// WriteSchema writes the kinds of objects of a file system with their fields.
func WriteSchema(w io.Writer, s *change.Schema) {
	for _, k := range s.Kinds[1:] {
		fmt.Fprintf(w, "%-20s %s\n", k.Name, k.Doc)
		var names []string
		for _, f := range k.Fields {
			names = append(names, s.FieldName(f))
		}
		if len(names) > 0 {
			fmt.Fprintf(w, "%-20s   fields: %s\n", "", strings.Join(names, ", "))
		}
	}
}
