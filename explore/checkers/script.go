package checkers

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"fsward/explore"
	"fsward/explore/agent"
)

// Script is a checker for people without Go: a file of shell commands, which run in the guest with $AT, where the storage is mounted.
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
	text script
}

type script struct {
	Doc    string `yaml:"doc"`
	Init   string `yaml:"init"`   // when it was mounted; may be ""
	Mutate []act  `yaml:"mutate"` // one after the other
	Check  string `yaml:"check"`  // after a crash; $EPOCH is begin, between or end, $EXPECT what crash said; what it prints is what is wrong
}

// act is one thing to do: exactly one of Run, Choose and Crash is there.
type act struct {
	Run    string  `yaml:"run"`    // a command. That it fails is no error, but with must
	N      uint32  `yaml:"n"`      // how many values $N takes for it; 0: none
	Must   bool    `yaml:"must"`   // a failure is an error of what is checked
	Choose [][]act `yaml:"choose"` // one of these lists
	Crash  string  `yaml:"crash"`  // now, start or end: CheckCrashesNow and so on
	Expect string  `yaml:"expect"` // with crash: $EXPECT of check
}

// UnmarshalYAML takes a text as a command.
func (a *act) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		a.Run = n.Value
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i]; key.Value {
		case "run", "n", "must", "choose", "crash", "expect":
		default:
			return fmt.Errorf("line %d: there is no %q", key.Line, key.Value)
		}
	}
	type plain act
	if err := n.Decode((*plain)(a)); err != nil {
		return err
	}
	is := 0
	for _, there := range []bool{a.Run != "", a.Choose != nil, a.Crash != ""} {
		if there {
			is++
		}
	}
	switch {
	case is != 1:
		return fmt.Errorf("line %d: one of run, choose and crash has to be there", n.Line)
	case a.Crash != "" && a.Crash != "now" && a.Crash != "start" && a.Crash != "end":
		return fmt.Errorf("line %d: crash is now, start or end, not %q", n.Line, a.Crash)
	}
	return nil
}

// LoadScript reads a checker from a file.
func LoadScript(file, at string) (*Script, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, err := parseScript(data, at)
	if err != nil {
		return nil, fmt.Errorf("checker %s: %w", file, err)
	}
	return s, nil
}

func parseScript(data []byte, at string) (*Script, error) {
	s := &Script{At: at}
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	if err := d.Decode(&s.text); err != nil {
		return nil, err
	}
	if len(s.text.Mutate) == 0 || s.text.Check == "" {
		return nil, errors.New("it has to have mutate and check")
	}
	return s, nil
}

// limit bounds one command. What takes longer hangs.
const limit = time.Minute

func (s *Script) run(e *explore.Env, line string, env ...string) error {
	exit, err := e.RunCommand(agent.Command{Args: []string{"sh", "-c", line}, Env: append(env, "AT="+s.At), Timeout: limit})
	if err == nil && (exit.Code != 0 || exit.TimedOut) {
		err = &explore.CommandError{Command: line, Exit: exit}
	}
	return err
}

// Init runs init.
func (s *Script) Init(e *explore.Env) error {
	if s.text.Init == "" {
		return nil
	}
	return s.run(e, s.text.Init)
}

// Mutate does what mutate says.
func (s *Script) Mutate(e *explore.Env) error { return s.acts(e, s.text.Mutate, "mutate") }

func (s *Script) acts(e *explore.Env, list []act, site string) error {
	for i, a := range list {
		if err := s.act(e, a, fmt.Sprintf("%s %d", site, i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Script) act(e *explore.Env, a act, site string) error {
	switch {
	case a.Choose != nil:
		way := e.ChooseAt(uint32(len(a.Choose)), site)
		return s.acts(e, a.Choose[way], fmt.Sprintf("%s, way %d", site, way+1))
	case a.Crash == "now":
		return e.CheckCrashesNow(a.Expect)
	case a.Crash == "start":
		return e.CheckCrashesStart(a.Expect)
	case a.Crash == "end":
		return e.CheckCrashesEnd(a.Expect)
	}
	var env []string
	if a.N > 0 {
		env = []string{fmt.Sprintf("N=%d", e.ChooseAt(a.N, site))}
	}
	err := s.run(e, a.Run, env...)
	var c *explore.CommandError
	switch {
	case errors.As(err, &c) && a.Must:
		return explore.Failuref("command failed", "%v", c)
	case errors.As(err, &c):
		return e.Err()
	}
	return err
}

// Check runs check.
func (s *Script) Check(e *explore.Env, crash explore.Crash) error {
	epoch, expect := "end", crash.After
	switch crash.Epoch {
	case explore.Begin:
		epoch, expect = "begin", crash.Before
	case explore.InBetween:
		epoch = "between"
	}
	err := s.run(e, s.text.Check, "EPOCH="+epoch, fmt.Sprint("EXPECT=", expect))
	var c *explore.CommandError
	if !errors.As(err, &c) {
		return err
	}
	// The first line names the error.
	kind, text, _ := strings.Cut(strings.TrimSpace(string(c.Exit.Stdout)), "\n")
	if kind == "" {
		kind, text = "check failed", c.Error()
	}
	return &explore.Failure{Kind: kind, Text: text}
}
