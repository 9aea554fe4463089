// Package ramdisk talks to fsw_ramdisk, the kernel module in the folder ramdisk at the root of the
// project. The module makes disks in a guest's memory. It can log every bio, keep and restore
// snapshots, and inject failures. Control and Disk work in the guest. A Reader and a Converter read
// the log anywhere.
//
// abi.go mirrors the structs of ramdisk/fsw_ramdisk.h. Start reading at Control.Make.
package ramdisk
