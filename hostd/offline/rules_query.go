package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/output"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/invariants"
)

// QueryConfig selects the file systems that goals are about, and bounds the goals.
type QueryConfig struct {
	// images of a guest's disks, IMG for all volumes or IMG:VOLUME for one; or one log, optionally
	// with @GENERATION appended
	Targets []string
	// image that the log starts from, IMG or IMG:VOLUME; "" if Targets are images
	Base  string
	FS    string
	Rules guard.RulesConfig // rules whose helpers goals may use
	Steps int64             // budget of a goal; 0 for that of rules
	Limit int               // number of answers to a goal
}

// A Querier answers goals about one transaction.
type Querier struct {
	prober *invariants.QuerySession
	obs    interp.Observation
	limit  int
	Title  string // describes the transaction: "btrfs generation 8, 412 records"
	Volume string // path of the volume; "" for a whole disk
}

// Query opens the images of a guest's disks or a log, and calls ask for each file system on them,
// or for a commit of each. The Querier can be used until ask returns. An error about one of several
// volumes does not end the others.
func Query(ctx context.Context, cfg QueryConfig, ask func(*Querier) error) error {
	if cfg.Base != "" {
		return cfg.queryLog(ctx, ask)
	}
	images, wanted := splitVolumes(cfg.Targets)
	disks, err := openImages(images)
	if err != nil {
		return err
	}
	defer disks.Close()
	all, err := fileSystems(disks, cfg.FS, wanted)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range all {
		volume := ""
		if len(g.Volumes) > 0 {
			volume = g.Volumes[0].Path
		}
		name, obs, err := detect.Image(g.Disk, g.FS)
		if err == nil {
			err = cfg.ask(subject{name, volume, ""}, obs, ask)
		}
		errs = append(errs, onVolume(volume, err))
	}
	return errors.Join(errs...)
}

// onVolume adds the volume to an error. volume is "" for a whole disk.
func onVolume(volume string, err error) error {
	if err == nil || volume == "" {
		return err
	}
	return fmt.Errorf("volume %s: %w", volume, err)
}

// A subject is the file system that goals are about.
type subject struct {
	fs     string
	volume string // "" for a whole disk
	part   string // "log commit 1"; "" for an image or a commit
}

func (cfg QueryConfig) ask(of subject, obs interp.Observation, ask func(*Querier) error) error {
	switch {
	case obs.Unknown != nil:
		return obs.Unknown
	case obs.Txn == nil:
		return fmt.Errorf("the structure of this %s is violated, so it cannot be queried: %s", of.fs,
			structureText(obs))
	}
	files, options, err := cfg.files(of.fs)
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
	title := fmt.Sprintf("%s generation %d, %d records", of.fs, obs.Generation, len(obs.Txn.Records))
	if of.part != "" {
		title += ", " + of.part
	}
	if of.volume != "" {
		title = "volume " + of.volume + ": " + title
	}
	return ask(&Querier{prober, obs, cfg.Limit, title, of.volume})
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

// WriteAnswers writes answers as a table, or with asJSON as one object a line, which names the
// volume if that is not "".
func WriteAnswers(w io.Writer, a *invariants.Answers, volume string, asJSON bool) error {
	if asJSON {
		return writeAnswerLines(w, a, volume)
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

func writeAnswerLines(w io.Writer, a *invariants.Answers, volume string) error {
	lines := output.NewLines(w, "")
	for _, row := range a.Rows {
		object := map[string]any{}
		if volume != "" {
			object["volume"] = volume // names of variables begin with a capital letter or _
		}
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
