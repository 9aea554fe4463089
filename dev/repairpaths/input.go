package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxInput bounds what the shim reads of an input, in bytes.
const maxInput = 64

// apply returns the image with the fields of an input, as the shim makes it, and their names.
func (f *fuzzer) apply(input []byte) (image []byte, fields []string) {
	image = slices.Clone(f.base)
	input = input[:min(len(input), maxInput)]
	for len(input) > 2 {
		p := f.places[int(binary.LittleEndian.Uint16(input))%len(f.places)]
		n := copy(image[p.Off:p.Off+uint64(p.Width)], input[2:])
		input = input[2+n:]
		fields = append(fields, p.Name)
	}
	return image, fields
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
		return nil, fmt.Errorf("%s: %w", path, errors.New("no executions"))
	}
	return stats, nil
}
