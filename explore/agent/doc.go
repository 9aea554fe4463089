// Package agent is what a guest of the explorer is told to do, and how: a server that runs in the guest (fsagent), the client
// that the host uses, and the protocol between them. It runs commands, performs lists of operations on files, mounts and RAM
// disks (fsw_ramdisk) with the error number of each, and reads the log of the RAM disks. The server keeps nothing from one
// request to the next.
//
// The host trusts nothing that comes: every length has a bound and is checked before memory is taken.
package agent
