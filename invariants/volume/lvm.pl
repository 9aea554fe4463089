% LVM.

% Rule 6. Two areas of logical volumes do not overlap.
% Source: lvm2 lib/metadata/pv_manip.c, check_pv_segments().
% For the user: two file systems write over each other.
violation(6, area, A) :-
  new(area, A),
  query(area, A, next_start, NEXT),
  query(area, A, end, END),
  NEXT < END.

% Rule 7. An area of a logical volume lies among the extents of its PV.
% Source: lvm2 lib/metadata/merge.c, check_lv_segments().
% For the user: the volume overlaps the metadata of LVM, or the data behind the PV.
violation(7, area, A) :-
  new(area, A),
  query(area, A, end, END),
  query(area, A, data_end, LAST),
  END > LAST.

% Rule 8. The extents of a PV lie on its disk or partition.
% Source: lvm2 lib/metadata/metadata.c, check_pv_dev_sizes().
% For the user: writes to the end of a logical volume fail, or go to another partition.
violation(8, pv, PV) :-
  new(pv, PV),
  query(pv, PV, data_end, LAST),
  query(pv, PV, end, END),
  LAST > END.
