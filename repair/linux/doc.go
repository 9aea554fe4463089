// Package linux shows images to a kernel: does Linux mount an image, which files are there, and can
// it write? The kernel is Debian's user-mode Linux, a process in a sandbox (repair/sandbox), so
// that an image that makes it crash ends that process and nothing else. In it runs the agent of the
// explorer (explore/agent).
//
// The first process of that kernel is this executable, started again: main must call Main first if
// Inside reports true. Start reading at Start.
package linux
