package paths

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readStats reads the numbers of AFL++'s file fuzzer_stats.
func readStats(path string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	stats := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if n, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			stats[strings.TrimSpace(name)] = n
		}
	}
	if stats["execs_done"] == 0 {
		return nil, fmt.Errorf("%s: no executions", path)
	}
	return stats, nil
}
