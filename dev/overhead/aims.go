package main

import (
	"fmt"
	"slices"
	"time"
)

// An aim is a measured figure with its upper bound.
type aim struct {
	what, figure, bound string
	met                 bool
}

type aims []aim

// ratio adds a figure without a unit.
func (a *aims) ratio(what string, figure, bound float64) {
	*a = append(*a, aim{what, fmt.Sprintf("%.3f", figure), fmt.Sprintf("%.3f", bound),
		figure <= bound})
}

// time adds a duration.
func (a *aims) time(what string, figure, bound time.Duration) {
	*a = append(*a, aim{what, round(figure), round(bound), figure <= bound})
}

// print prints a table of the aims.
func (a aims) print(fs string) {
	fmt.Printf("%s: aims\n%-78s %12s %12s\n", fs, "", "figure", "at most")
	for _, one := range a {
		verdict := "met"
		if !one.met {
			verdict = "NOT met"
		}
		fmt.Printf("%-78s %12s %12s  %s\n", one.what, one.figure, one.bound, verdict)
	}
}

// quantile returns the quantile of a sorted list; part is between 0 and 1.
func quantile(sorted []time.Duration, part float64) time.Duration {
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// median sorts a list and returns its middle element, or the mean of the two in the middle.
func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
