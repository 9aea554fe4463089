// Package sandbox runs untrusted programs on untrusted images. A Box is a process in namespaces of
// its own. It sees the host's files, all of them read-only and without devices, and one writable
// folder in memory, Work. Each program that it runs has bounds: of time, memory, output, and of the
// bytes that it may write. When a run ends, no process of it is left.
//
// A Box is this executable, started again: main must call Main first if Inside reports true.
package sandbox
