% Only num_devices changes.
rule(45).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),num_devices,1,2).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),num_devices,2).
expect(45, 0, k(0,super_block,0)).
