// Package ekm speaks with fsw_ekm, the kernel module of the folder guest-kmod at the root of the project: choices and choice
// points in a kernel that is not changed, a log of the write set and of system calls, and threads that are held or run. It is used
// in the guest; a Reader reads its log anywhere. docs/dev/ekm.md says what there is.
package ekm
