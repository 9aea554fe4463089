// Package campaign divides work of fsward among processes and machines, by NATS JetStream.
//
// A Definition describes a campaign: a command of fsward, its flags, and a range of indexes, such
// as the ranks of a set of workloads. A Unit is a part of this range. A Queue keeps the units that
// are to do, the results of those that are done, and the findings. A Worker takes units from a
// Queue and has a Runner run them. A unit may run more than once, and counts once.
//
// Everything that comes from the server is checked as if an enemy had sent it: sizes, keys, names,
// and the flags that a command gets.
//
// Start reading at Definition, and then at Queue and Worker.
package campaign
