// Package ubd has the log of the disks of user-mode Linux (its block devices are called ubd), and
// the rules by which their requests fail. User-mode Linux loads no module of fsward. In place of
// fsw_ramdisk, the library that it runs with stands between the kernel and the files of its disks
// (explore/uml/shim/disks.c). Library, host and agent share an Area of memory, and the library
// writes the log to a ring that the host reads.
//
// Start reading at Area and at Log.
package ubd
