# The program of the machine in the stack vm: see explore/spec/stacks/vm.yaml. It runs where the CPU
# starts, in real mode, and drives an ATA disk by its ports.
.code16
start:
  xor %ax,%ax
  mov %ax,%ss
  mov $0x7000,%sp
  mov $0x20,%ah           # READ SECTORS: sector 0
  xor %bx,%bx
  call command
  mov $0x1f0,%dx
  in %dx,%ax
  mov %ax,%bp             # the counter; the rest of the sector is dropped
  mov $255,%cx
1: in %dx,%ax
  loop 1b
  inc %bp                 # write the sector of the new counter, then sector 0
  mov %bp,%bx
  call write
  xor %bx,%bx
  call write
  mov %bp,%ax             # print the counter on the debug console
  out %al,$0xe9
2: hlt
  jmp 2b
write: mov $0x30,%ah      # WRITE SECTORS: sector bx, 256 times bp; then flush
  call command
  mov $0x1f0,%dx
  mov %bp,%ax
  mov $256,%cx
3: out %ax,%dx
  loop 3b
  mov $0xe7,%ah           # FLUSH CACHE
command: call wait        # execute command ah for sector bx
  mov $0x1f2,%dx
  mov $1,%al
  out %al,%dx
  inc %dx
  mov %bl,%al
  out %al,%dx
  inc %dx
  mov %bh,%al
  out %al,%dx
  inc %dx
  xor %al,%al
  out %al,%dx
  inc %dx
  mov $0xe0,%al
  out %al,%dx
  inc %dx
  mov %ah,%al
  out %al,%dx
wait: mov $0x1f7,%dx
4: in %dx,%al             # until the disk is not busy
  test $0x80,%al
  jnz 4b
  ret
