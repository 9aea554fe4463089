package paths

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Point is what a search had found at a time.
type Point struct {
	Seconds    float64 `json:"seconds"` // since its begin
	Executions float64 `json:"executions"`
	Paths      float64 `json:"paths"`
	Edges      float64 `json:"edges"`
}

// maxPoints bounds the points that are kept.
const maxPoints = 16

// readPoints reads AFL++'s file plot_data: points that are spread over the time.
func readPoints(path string) ([]Point, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: %d rows", path, len(rows)), err)
	}
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[strings.TrimPrefix(name, "# ")] = i
	}
	var all []Point
	for _, row := range rows[1:] {
		var p Point
		for name, to := range map[string]*float64{"relative_time": &p.Seconds,
			"total_execs": &p.Executions, "corpus_count": &p.Paths, "edges_found": &p.Edges} {
			i, ok := columns[name]
			if !ok {
				return nil, fmt.Errorf("%s: no column %s", path, name)
			}
			if *to, err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		all = append(all, p)
	}
	return spread(all), nil
}

// spread returns at most maxPoints points, with the first and the last.
func spread(all []Point) (list []Point) {
	if len(all) <= maxPoints {
		return all
	}
	for i := range maxPoints {
		list = append(list, all[i*(len(all)-1)/(maxPoints-1)])
	}
	return list
}

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
