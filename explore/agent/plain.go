package agent

import (
	"os/exec"
	"slices"
	"strings"
)

// shellSpecial are the characters of a shell line that mean something to the shell, but for spaces
// and $.
const shellSpecial = "|&;<>()`\\\"'*?[]#~{}!\t\r\n"

// shellOwn are programs that the shell also has itself, where they may differ.
var shellOwn = []string{"echo", "false", "kill", "printf", "pwd", "test", "true"}

// withoutShell returns the words of a command "sh -c LINE" if LINE only runs a program with words
// and variables, such as "e2fsck -fy $DEVICE". The shell would take as long to start as the
// program, in each recovery. For any other command withoutShell returns args. If a variable occurs
// in env more than once, the last one counts.
func withoutShell(args, env []string) []string {
	if len(args) != 3 || args[0] != "sh" || args[1] != "-c" {
		return args
	}
	var words []string
	for word := range strings.SplitSeq(args[2], " ") {
		if name, is := strings.CutPrefix(word, "$"); is {
			value, set := variable(env, name)
			if !set {
				return args
			}
			word = value
		}
		if strings.ContainsAny(word, shellSpecial+"$") {
			return args
		}
		words = append(words, strings.FieldsFunc(word, func(r rune) bool { return r == ' ' })...)
	}
	if len(words) == 0 || strings.Contains(words[0], "=") || slices.Contains(shellOwn, words[0]) {
		return args
	}
	if _, err := exec.LookPath(words[0]); err != nil { // a builtin, or it does not exist
		return args
	}
	return words
}

// variable returns the value of a variable in an environment.
func variable(env []string, name string) (value string, set bool) {
	for _, entry := range slices.Backward(env) {
		if value, set = strings.CutPrefix(entry, name+"="); set {
			return value, true
		}
	}
	return "", false
}
