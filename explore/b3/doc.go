// Package b3 generates the workloads of bounded black-box crash testing (Mohan et al., OSDI 2018,
// "Finding Crash-Consistency Bugs with Bounded Black-Box Crash Testing"), as data.
//
// A Set is a YAML file: operations, names, ranges, where workloads are made persistent, and a
// length. Its workloads have ranks from 0: Set.At returns the workload of a rank, and Set.Rank the
// rank of a workload. Complete adds what a workload needs to run: parent directories, files, data.
// Workloads have a text form, as in "link foo bar; fsync bar", which Parse reads.
//
// The package does not run workloads, and imports nothing of the project.
//
// Start reading at Step and Workload, and then at Set.
package b3
