% Preallocated space has checksums in the log: of its first sector, of its last, or of a larger
% range. The file extent is new, or it changed.
rule(100).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
change(-6,k(257,extent_data,0),object,null,present).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),type,prealloc).
state(-6,k(257,extent_data,0),disk_bytenr,1048576).
state(-6,k(257,extent_data,0),extent_offset,4096).
state(-6,k(257,extent_data,0),num_bytes,8192).
object(-6,k(-10,extent_csum,1044480)).
state(-6,k(-10,extent_csum,1044480),nsums,3).
change(-6,k(258,extent_data,0),object,present,present).
object(-6,k(258,extent_data,0)).
state(-6,k(258,extent_data,0),type,prealloc).
state(-6,k(258,extent_data,0),disk_bytenr,2097152).
state(-6,k(258,extent_data,0),extent_offset,0).
state(-6,k(258,extent_data,0),num_bytes,8192).
object(-6,k(-10,extent_csum,2101248)).
state(-6,k(-10,extent_csum,2101248),nsums,1).
change(-6,k(259,extent_data,0),object,null,present).
object(-6,k(259,extent_data,0)).
state(-6,k(259,extent_data,0),type,prealloc).
state(-6,k(259,extent_data,0),disk_bytenr,4194304).
state(-6,k(259,extent_data,0),extent_offset,8192).
state(-6,k(259,extent_data,0),num_bytes,4096).
object(-6,k(-10,extent_csum,4194304)).
state(-6,k(-10,extent_csum,4194304),nsums,16).
expect(100, -6, k(257,extent_data,0)).
expect(100, -6, k(258,extent_data,0)).
expect(100, -6, k(259,extent_data,0)).
