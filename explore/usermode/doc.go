// Package usermode runs the explorer in user-mode Linux, a kernel that is a process of the host.
// What that kernel does itself, such as a mount and the replay of a journal, runs as fast as on the
// host, so that it takes a fraction of the processor time of an emulated guest. A Machine loads no
// module of fsward. The library that it runs with logs its disks (explore/ubd); without that log it
// can only recover crash states.
//
// The kernel runs in a sandbox (repair/sandbox). Its root is the initramfs of the explorer's guest,
// whose agent answers through a mailbox (explore/agent/mailbox). A disk is a file, in which the
// host restores what the kernel has written.
//
// Start reading at Machine and at disk.
package usermode
