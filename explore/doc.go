// Package explore drives storage software in a guest through all choices and all crashes, as EXPLODE (OSDI 2006) does, and judges
// what it finds there.
//
// A user writes a Checker, which does something to a storage system and says what has to hold after a crash, and puts it on top of a
// Stack of Components, which say how each layer is made, mounted and recovered. Both call Env.Choose where there is more than one
// thing to do, and the explorer sees to it that each is done once. A state is the sequence of values that Choose has returned;
// to be there again, the explorer puts the pristine disks back, mounts the stack and has Choose return the same values.
package explore
