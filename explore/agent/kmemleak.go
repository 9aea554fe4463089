package agent

import (
	"os"
	"strings"
	"time"
)

const (
	debugfs      = "/sys/kernel/debug"
	kmemleakPath = debugfs + "/kmemleak"

	// youngest is the age at which KMEMLEAK reports an object (MSECS_MIN_AGE), and a little more.
	youngest = 5500 * time.Millisecond

	maxLost      = 16 // objects that are reported
	maxBacktrace = 8  // functions of an object's backtrace
)

// checkMemory makes KMEMLEAK forget what it reported; or, with take, returns the objects that
// nothing refers to. An object is reported by the second scan that finds it unchanged.
func checkMemory(take bool) ([]KernelFinding, error) {
	f, err := os.OpenFile(kmemleakPath, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !take {
		_, err := f.WriteString("clear")
		return nil, err
	}
	time.Sleep(youngest)
	for range 2 {
		if _, err := f.WriteString("scan"); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(kmemleakPath)
	return lostObjects(string(text)), err
}

// lostObjects returns a finding for each different object in the text of KMEMLEAK: its size, and
// the functions that allocated it.
func lostObjects(text string) (out []KernelFinding) {
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(text, "unreferenced object ") {
		head, rest, _ := strings.Cut(part, "\n")
		_, size, sized := strings.Cut(strings.TrimSuffix(head, "):"), "(size ")
		_, trace, _ := strings.Cut(rest, "backtrace:\n")
		var functions []string
		for line := range strings.Lines(trace) {
			// [<0000000012345678>] symbol+0x12/0x34 [module]
			_, symbol, ok := strings.Cut(line, ">] ")
			if !ok {
				_, symbol, ok = strings.Cut(line, "] ")
			}
			symbol, _, _ = strings.Cut(strings.TrimSpace(symbol), "/")
			if ok && len(functions) < maxBacktrace {
				functions = append(functions, symbol)
			}
		}
		what := size + " bytes are not referenced; allocated at " + strings.Join(functions, " < ")
		if !sized || seen[what] || len(out) == maxLost {
			continue
		}
		seen[what] = true
		out = append(out, KernelFinding{"memory lost", what[:min(len(what), MaxText)]})
	}
	return out
}
