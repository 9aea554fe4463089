// Package campaign tests repair programs as SWIFT does (EuroSys 2012): it damages an image, runs
// the program on it, and then again, and judges what both runs claim. Start with Run, which takes
// the damages of an image one after the other. try in trial.go is the test of one damage.
//
// Each group of failures with the same messages (Finding) has a folder. Replay shows a finding
// again.
package campaign
