package campaign

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Kind is a kind of unit: a command of fsward, and the flags that a campaign may give it. What is
// not listed here does not run, whoever asks for it.
type Kind struct {
	// Program is the name of the program that runs a unit, in the folder of fsward; "": fsward.
	Program string
	Command []string // the subcommand of the program
	Guest   bool     // it boots a guest
	// Range names the flag for the indexes of a unit, as A-B. "": each unit is one combination of the
	// flags' values.
	Range string
	// Argument is the form of an argument; nil: the command takes none.
	Argument *regexp.Regexp
	flags    map[string]*regexp.Regexp // the form of each flag's values
	files    []string                  // flags whose value may be a file that the campaign carries
	subject  []string                  // flags that say what is tested, and so belong to a finding
	required []string                  // one flag of each list, separated by |
}

// Forms of values. None of them names a file: a name has no slash, and no dot but that of
// fsck.ext4.
var (
	nameValue     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+-]{0,63}$`)
	namesValue    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+,-]{0,255}$`)
	askValue      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+,:=-]{0,255}$`)
	numberValue   = regexp.MustCompile(`^[0-9]{1,20}$`)
	durationValue = regexp.MustCompile(`^[0-9hms.]{1,16}$`)
	sizeValue     = regexp.MustCompile(`^[0-9]{1,12}[KMG]?$`)
	boolValue     = regexp.MustCompile(`^(true|false)$`)
	programValue  = regexp.MustCompile(`^(fsck\.)?[a-z0-9_]{1,32}$`)
	modesValue    = regexp.MustCompile(`^[A-Za-z0-9_+,-]{1,255}$`) // programs name modes -fy
	optionsValue  = regexp.MustCompile(`^[A-Za-z0-9_+,=:.^ -]{1,255}$`)
	rangeValue    = regexp.MustCompile(`^[0-9]{1,19}-[0-9]{1,19}$`)
	patternValue  = regexp.MustCompile(`^[A-Za-z0-9_.@=,^$|()*+!?-]{1,255}$`) // of names of fields
	settingValue  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}=[A-Za-z0-9_+,:-]{0,191}$`)
)

// crashFlags and checkFlags are flags of every command that crashes a file system in a guest.
var (
	crashFlags = map[string]*regexp.Regexp{
		"crash-limit": numberValue, "crash-unit": nameValue, "torn": boolValue,
		"recovery-crashes": boolValue, "write-through": boolValue, "no-prune": boolValue,
		"soft-crashes": boolValue, "memory": numberValue, "log": numberValue,
	}
	checkFlags = map[string]*regexp.Regexp{
		"double-fsck": boolValue, "surprises": nameValue, "strict-recovery": boolValue,
		"no-invariants": boolValue, "no-commits": boolValue, "host-only": boolValue,
		"no-account": boolValue, "seed": numberValue, "run-in": nameValue, "recover-in": nameValue,
	}
	searchFlags = map[string]*regexp.Regexp{
		"files": numberValue, "dirs": numberValue, "ops": namesValue, "search": nameValue,
		"depth": numberValue, "failures": numberValue, "failure-points": namesValue,
		"kernel-choices": boolValue, "hash-disks": boolValue, "restore": nameValue,
		"threads": durationValue, "time": durationValue,
	}
	systemFlags = map[string]*regexp.Regexp{
		"fs": nameValue, "mount-options": optionsValue, "mkfs-options": optionsValue, "size": sizeValue,
	}
)

// merged returns the entries of all maps.
func merged(list ...map[string]*regexp.Regexp) map[string]*regexp.Regexp {
	all := make(map[string]*regexp.Regexp)
	for _, m := range list {
		maps.Copy(all, m)
	}
	return all
}

var kinds = map[string]*Kind{
	"b3": {
		Command: []string{"explore", "b3"}, Guest: true, Range: "range",
		flags: merged(crashFlags, checkFlags, systemFlags, map[string]*regexp.Regexp{
			"set": nameValue, "no-unmount": boolValue, "in-order": boolValue}),
		files:    []string{"set"},
		subject:  []string{"fs", "mount-options", "mkfs-options"},
		required: []string{"fs", "set"},
	},
	"explore": {
		Command: []string{"explore", "run"}, Guest: true,
		flags: merged(crashFlags, checkFlags, searchFlags, systemFlags, map[string]*regexp.Regexp{
			"checker": nameValue, "stack": nameValue, "set": settingValue, "guarded": boolValue}),
		files:    []string{"stack"},
		subject:  []string{"fs", "mount-options", "mkfs-options", "stack", "set", "checker"},
		required: []string{"fs|stack"},
	},
	"survey": {
		Command: []string{"explore", "survey"}, Guest: true, Argument: nameValue,
		flags: merged(crashFlags, checkFlags, searchFlags, map[string]*regexp.Regexp{
			"ask": askValue, "runs": numberValue}),
		subject:  []string{""},
		required: []string{""},
	},
	"fsck": {
		Command: []string{"fsck", "run"},
		flags: map[string]*regexp.Regexp{"fs": nameValue, "program": programValue, "mode": modesValue,
			"check": namesValue, "time": durationValue, "damages": numberValue, "workers": numberValue,
			"model": nameValue, "range": rangeValue, "fields": patternValue, "replays": numberValue},
		subject:  []string{"fs", "program"},
		required: []string{"fs"},
	},
	// dev/matrix/cmd
	"matrix": {
		Program: "fsward-matrix", Range: "range",
		flags: map[string]*regexp.Regexp{"fs": nameValue, "picks": numberValue,
			"workers": numberValue, "only": patternValue, "linux": boolValue},
		subject:  []string{"fs"},
		required: []string{"fs"},
	},
}

// Path returns the path of the program that runs the units, from that of fsward.
func (k *Kind) Path(fsward string) string {
	if k.Program == "" {
		return fsward
	}
	return filepath.Join(filepath.Dir(fsward), k.Program)
}

// Kinds returns the names of the kinds of campaigns, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// KindOf returns the kind with a name.
func KindOf(name string) (*Kind, error) {
	k, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no kind of campaign %q: want one of %s", name,
			strings.Join(Kinds(), ", "))
	}
	return k, nil
}

// checkFlag returns an error for a flag, or a value of it, that a campaign may not give to the
// command. The name "" stands for the argument.
func (k *Kind) checkFlag(name, value string) error {
	form, ok := k.flags[name]
	if name == "" {
		form, ok = k.Argument, k.Argument != nil
	}
	switch {
	case !ok && name == "":
		return fmt.Errorf("the argument %q: the command takes none", value)
	case !ok:
		return fmt.Errorf("--%s is not a flag that a campaign may use", name)
	case !form.MatchString(value):
		return fmt.Errorf(
			"--%s=%q is not a value that a campaign may use; this file stays on its machine", name, value)
	}
	return nil
}

// checkRequired returns an error if a flag is missing among names.
func (k *Kind) checkRequired(names []string) error {
	for _, list := range k.required {
		if !slices.ContainsFunc(strings.Split(list, "|"), func(name string) bool {
			return slices.Contains(names, name)
		}) {
			return fmt.Errorf("%s is missing", strings.ReplaceAll("--"+list, "|", " or --"))
		}
	}
	return nil
}
