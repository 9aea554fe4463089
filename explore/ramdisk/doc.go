// Package ramdisk speaks with fsw_ramdisk, the kernel module of the folder ramdisk at the root of the project: disks in a
// guest's memory whose every bio can be logged, whose contents can be put back, and whose errors are chosen. It is used in
// the guest; a Reader and a Converter read its log anywhere.
//
// Commands go by write(2) and their answers come by read(2), so that no pointer is handed to the kernel (decision 28).
package ramdisk
