package ext3

import "testing"

// quotaLoad mounts a file system with the feature quota, which the driver of ext4 accepts, and
// changes the usage and the limits of many users and groups. The quota files grow, and the changes
// of usage are in the transactions that cause them.
const quotaLoad = `
	insmod /usr/lib/uml/modules/*/kernel/fs/quota/quota_tree.ko
	insmod /usr/lib/uml/modules/*/kernel/fs/quota/quota_v2.ko
	mount -t ext4 -o usrquota,grpquota /dev/ubda $MNT; cd $MNT
	for i in $(seq 60); do
		head -c $((i * 900)) /dev/urandom > f$i; chown $((i * 3000)):$((i * 70)) f$i
		[ $((i % 15)) != 0 ] || sync
	done
	setquota -u 3000 100 200 10 20 $MNT; setquota -g 70 1000 2000 0 0 $MNT; sync
	rm f1 f2 f3; chown 7:8 f4 f5 f6; truncate -s 100 f40; sync
	quotaoff -ug $MNT; quotaon -ug $MNT; mkdir d; chown 9 d; : > d/f; sync
	cd /; umount $MNT
`

// TestQuota follows user-mode Linux, whose kernel has the format of quota files that the feature
// needs. Every commit holds, a new reader finds the same state, and e2fsck, which counts the usage
// itself, finds no fault. tune2fs makes and removes the feature.
func TestQuota(t *testing.T) {
	for _, tc := range []struct {
		name string
		mkfs []string
		tune string
	}{{"mke2fs", quotas, ""}, {"tune2fs", []string{"-b", "4096"}, "quota"}} {
		t.Run(tc.name, func(t *testing.T) {
			image := Mkfs(t, "64M", tc.mkfs...)
			if tc.tune != "" {
				peer(t, "tune2fs", "-O", tc.tune, image)
			}
			f, out := inGuest(t, image, 2, nil, quotaLoad)
			if f.commits < 6 {
				t.Errorf("%d commits\n%s", f.commits, out)
			}
			peer(t, "e2fsck", "-fn", image)
			if found := judgedImage(t, image); len(found) > 0 {
				t.Errorf("false alarm: %v", found)
			}
			peer(t, "tune2fs", "-O", "^quota", image)
			peer(t, "e2fsck", "-fn", image)
			if found := judgedImage(t, image); len(found) > 0 {
				t.Errorf("false alarm without quota files: %v", found)
			}
		})
	}
}
