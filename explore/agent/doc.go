// Package agent drives a guest of the explorer from the host. It holds the server that runs in the
// guest (fsagent), the client that the host uses, and the protocol between them. The agent runs
// commands, performs lists of operations on files, mounts and RAM disks (fsw_ramdisk), returns the
// error number of each operation, and reads the logs of the modules fsw_ramdisk and fsw_ekm. The
// server keeps no state from one request to the next.
//
// Neither side trusts the other: every length has a bound, and is checked before memory is
// allocated.
//
// Start reading at Client for the host, at Server for the guest, and at frame.go for the protocol.
package agent
