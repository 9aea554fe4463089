// Package device talks to the kernel modules of this project inside a guest. A Control sends
// commands, and a Reader reads the records of a log. The packages explore/ekm and explore/ramdisk
// build on it; each describes the commands and records of one module.
//
// A command goes to the module by write(2), and its answer comes back by read(2), so that the
// kernel never gets a pointer into user space (decision 28). Start reading at Module.
package device
