package checkers

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/guest"
)

// A Script is a checker in a YAML file. It consists of shell commands, which run in the guest. $AT
// is the mount point.
//
//	mutate:
//	- choose:                     # one of these
//	  - - mkdir $AT/d$N           # one command for each $N from 0 up to n
//	      n: 5
//	…
//
// See docs/user/checkers.md.
type Script struct {
	explore.Plain
	At   string
	Env  []string // more variables of the commands, as NAME=VALUE
	text Text

	expected map[string]any // expectation of each mark that the last step has set
	steps    uint32         // number of steps done
}

// Text is the content of the file of a script.
type Text struct {
	Doc         string `yaml:"doc"`
	guest.Needs `yaml:",inline"`
	Init        string   `yaml:"init"`   // command after the first mount; may be ""
	Mutate      []action `yaml:"mutate"` // actions of a step, in order
	// Steps is the number of steps after which no other follows; 0: there is no limit.
	Steps uint32 `yaml:"steps"`
	// Choices has the number of values of $N, from 0 on, for the commands init and check. The explorer
	// tries each value.
	Choices map[string]uint32 `yaml:"choices"`
	// Signature is a command whose output identifies a state; "": the choices identify it.
	Signature string `yaml:"signature"`
	// Crashes requests crashes in the log of each step.
	Crashes []logCrash `yaml:"crashes"`
	// Check is the command after each recovery. $EPOCH is begin, between or end. $EXPECT is the text
	// of expect. $LOG is the log of the step up to the crash. Its output describes the failure.
	Check string `yaml:"check"`
}

// An action has exactly one of Run, Choose, Crash, Mark and Fail.
type action struct {
	Run    string     `yaml:"run"`    // command; it may fail, unless Must is set
	N      uint32     `yaml:"n"`      // with Run: the number of values of $N; 0: no $N
	Must   bool       `yaml:"must"`   // with Run: report a failed command as a failure
	Choose [][]action `yaml:"choose"` // execute one of these lists
	Crash  string     `yaml:"crash"`  // "now", "start" or "end": call CheckCrashesNow and so on
	Mark   string     `yaml:"mark"`   // set a mark in the log, for Text.Crashes
	Expect string     `yaml:"expect"` // with Crash or Mark: $EXPECT of Check
	// Capture is a command, with Crash or Mark: its output is $EXPECT of Check.
	Capture string `yaml:"capture"`
	// Fail has the numbers of RAM disks, or a variable for them. All their operations fail while
	// During is executed.
	Fail   string   `yaml:"fail"`
	During []action `yaml:"during"`
}

// UnmarshalYAML reads an action. A scalar is a command.
func (a *action) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		a.Run = n.Value
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i]; key.Value {
		case "run", "n", "must", "choose", "crash", "mark", "expect", "capture", "fail", "during":
		default:
			return fmt.Errorf("line %d: there is no %q", key.Line, key.Value)
		}
	}
	type plain action
	if err := n.Decode((*plain)(a)); err != nil {
		return err
	}
	kinds := 0
	for _, set := range []bool{
		a.Run != "", a.Choose != nil, a.Crash != "", a.Mark != "", a.Fail != "",
	} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("line %d: one of run, choose, crash, mark and fail is needed", n.Line)
	case (a.Fail == "") != (len(a.During) == 0):
		return fmt.Errorf("line %d: fail needs disks, and actions during which they fail", n.Line)
	case a.Capture != "" && (a.Crash == "" && a.Mark == "" || a.Expect != ""):
		return fmt.Errorf("line %d: capture belongs to a crash or a mark without expect", n.Line)
	case len(a.Mark) > maxMark || a.Mark == "write" || a.Mark == "flush":
		return fmt.Errorf("line %d: a mark has at most %d bytes, and is not write or flush", n.Line,
			maxMark)
	case a.Crash != "" && a.Crash != "now" && a.Crash != "start" && a.Crash != "end":
		return fmt.Errorf("line %d: crash must be now, start or end, not %q", n.Line, a.Crash)
	}
	return nil
}

// LoadScript reads a script from a file. at is the mount point.
func LoadScript(file, at string) (*Script, error) {
	text, err := ReadText(file)
	if err != nil {
		return nil, err
	}
	return NewScript(text, at)
}

// ReadText reads the text of a script from a file.
func ReadText(file string) (Text, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Text{}, err
	}
	t, err := parseText(data)
	if err != nil {
		return Text{}, fmt.Errorf("checker %s: %w", file, err)
	}
	return t, nil
}

// parseText parses and validates the YAML text of a script.
func parseText(data []byte) (t Text, err error) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	if err := d.Decode(&t); err != nil {
		return t, err
	}
	return t, t.check()
}

// NewScript returns a script. at is the mount point.
func NewScript(t Text, at string) (*Script, error) {
	return &Script{At: at, text: t}, t.check()
}

// check returns an error if the text is not that of a script.
func (t Text) check() error {
	if len(t.Mutate) == 0 || t.Check == "" {
		return errors.New("it needs mutate and check")
	}
	for name, n := range t.Choices {
		if name != "init" && name != "check" || n < 2 {
			return fmt.Errorf("choices, %s: %d: the commands are init and check, and the number "+
				"of values is 2 or more", name, n)
		}
	}
	if err := t.checkCrashes(); err != nil {
		return err
	}
	return t.Needs.Check()
}

// maxMark bounds the text of a mark, in bytes: see Env.Mark.
const maxMark = 200

// run runs a shell line with $AT and more variables.
func (s *Script) run(e *explore.Env, line string, env ...string) error {
	_, err := s.output(e, line, env...)
	return err
}

// output does the same, and returns the output of the line.
func (s *Script) output(e *explore.Env, line string, env ...string) (string, error) {
	exit, err := s.shell(e, line, env...)
	return string(exit.Stdout), err
}

// shell runs a shell line. An exit status other than 0 is an error.
func (s *Script) shell(e *explore.Env, line string, env ...string) (agent.Exit, error) {
	exit, err := e.RunCommand(agent.Command{
		Args: []string{"sh", "-c", line},
		Env:  slices.Concat(env, s.Env, []string{"AT=" + s.At}),
	})
	if err == nil && exit.Code != 0 {
		err = &explore.CommandError{Command: line, Exit: exit}
	}
	return exit, err
}

// Signature returns the output of the command signature; nil if there is none. All states that no
// step follows have one signature.
func (s *Script) Signature(e *explore.Env) ([]byte, error) {
	if s.last() {
		return []byte("the last step is done"), nil
	}
	if s.text.Signature == "" {
		return nil, nil
	}
	out, err := s.output(e, s.text.Signature)
	return []byte(out), err
}

// expectation returns the value that a crash passes to Check.
func (s *Script) expectation(e *explore.Env, a action) (any, error) {
	if a.Capture == "" {
		return expectedText(a.Expect), nil
	}
	exit, err := s.shell(e, a.Capture)
	// The status of a pipe is that of its last command. If an earlier one failed, Check would compare
	// nothing with nothing.
	if err == nil && len(exit.Stdout) == 0 && len(exit.Stderr) != 0 {
		err = &explore.CommandError{Command: a.Capture, Exit: exit}
	}
	return expectedText(strings.TrimSuffix(string(exit.Stdout), "\n")), err
}

// expectedText is the expectation of a script. Disks with equal contents are checked once for each.
type expectedText string

// Key returns the text.
func (t expectedText) Key() string { return string(t) }

// choice returns the variable $N for a command that Choices names.
func (s *Script) choice(e *explore.Env, name string) []string {
	n := s.text.Choices[name]
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("N=%d", e.ChooseAt(n, name))}
}

// last reports whether no step follows.
func (s *Script) last() bool { return s.text.Steps > 0 && s.steps >= s.text.Steps }

// Init runs the command init, if there is one.
func (s *Script) Init(e *explore.Env) error {
	s.steps = 0
	if s.text.Init == "" {
		return nil
	}
	return s.run(e, s.text.Init, s.choice(e, "init")...)
}

// Mutate executes the actions of mutate.
func (s *Script) Mutate(e *explore.Env) error {
	if s.last() {
		return nil
	}
	s.steps++
	s.expected = make(map[string]any)
	return s.executeAll(e, s.text.Mutate, "mutate")
}

// executeAll executes a list of actions. site names the list in choices.
func (s *Script) executeAll(e *explore.Env, list []action, site string) error {
	for i, a := range list {
		if err := s.execute(e, a, fmt.Sprintf("%s %d", site, i+1)); err != nil {
			return err
		}
	}
	return nil
}

// execute executes an action.
func (s *Script) execute(e *explore.Env, a action, site string) error {
	switch {
	case a.Choose != nil:
		way := e.ChooseAt(uint32(len(a.Choose)), site)
		return s.executeAll(e, a.Choose[way], fmt.Sprintf("%s, way %d", site, way+1))
	case a.Mark != "":
		return s.mark(e, a)
	case a.Fail != "":
		return s.failing(e, a, site)
	case a.Crash != "":
		expect, err := s.expectation(e, a)
		if err != nil {
			return err
		}
		switch a.Crash {
		case "now":
			return e.CheckCrashesNow(expect)
		case "start":
			return e.CheckCrashesStart(expect)
		}
		return e.CheckCrashesEnd(expect)
	}
	var env []string
	if a.N > 0 {
		env = []string{fmt.Sprintf("N=%d", e.ChooseAt(a.N, site))}
	}
	err := s.run(e, a.Run, env...)
	var c *explore.CommandError
	e.CountCommand(errors.As(err, &c))
	switch {
	case c != nil && a.Must:
		return explore.Failuref("command failed", "%v", c)
	case c != nil:
		return e.Err()
	}
	return err
}

// Check runs the command check. If it fails, its output is the failure.
func (s *Script) Check(e *explore.Env, crash explore.Crash) error {
	epoch, expect := "end", crash.After
	switch crash.Epoch {
	case explore.Begin:
		epoch, expect = "begin", crash.Before
	case explore.InBetween:
		epoch = "between"
	}
	env := append(s.choice(e, "check"), "EPOCH="+epoch, fmt.Sprint("EXPECT=", expect))
	if strings.Contains(s.text.Check, "LOG") {
		env = append(env, "LOG="+logText(crash.Log()))
	}
	err := s.run(e, s.text.Check, env...)
	var c *explore.CommandError
	if !errors.As(err, &c) {
		return err
	}
	// The first line is the kind of the failure.
	kind, text, _ := strings.Cut(strings.TrimSpace(string(c.Exit.Stdout)), "\n")
	if kind == "" {
		kind, text = "check failed", c.Error()
	}
	return &explore.Failure{Kind: kind, Text: text}
}
