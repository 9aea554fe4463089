// Package device speaks with the kernel modules of this project in a guest: Control sends commands, Reader reads the records of
// a log. Packages explore/ekm and explore/ramdisk are the modules themselves in Go; both build on this package.
//
// A command goes to the module by write(2), and its answer comes by read(2), so that no pointer is handed to the kernel
// (decision 28). Start reading at Module.
package device
