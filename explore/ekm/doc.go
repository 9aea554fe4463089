// Package ekm talks to fsw_ekm, the kernel module in the folder guest-kmod at the root of the
// project. In an unmodified kernel the module makes choices at choice points, logs the write set
// and system calls, and holds and runs kernel threads. Control works in the guest. A Reader reads
// the log anywhere.
//
// abi.go mirrors the structs of guest-kmod/fsw_ekm.h, and docs/dev/ekm.md describes the module.
// Start reading at Control.
package ekm
