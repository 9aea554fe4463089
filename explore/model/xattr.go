package model

import (
	"cmp"
	"maps"
	"strings"

	"golang.org/x/sys/unix"
)

// withXattr returns the extended attributes with another value of one of them.
func (a attrs) withXattr(name, value string) map[string]string {
	x := make(map[string]string, len(a.xattrs)+1)
	maps.Copy(x, a.xattrs)
	x[name] = value
	return x
}

// withoutXattr returns the extended attributes without one of them.
func (a attrs) withoutXattr(name string) map[string]string {
	x := maps.Clone(a.xattrs)
	delete(x, name)
	return x
}

// xattr performs Setxattr, Getxattr and Removexattr, as fs/xattr.c does. It knows the namespace
// "user." (xattr_permission) and the access control lists.
func (v *volume) xattr(o Op) (r Result) {
	i, errno := v.tree.find(o.Path, false)
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := v.tree.inodes[i]
	a := n.attrs.now()
	value, is := a.xattrs[o.Name]
	switch {
	case o.Name != "" && o.Code != Getxattr && n.isProtected():
		r.Errno = unix.EPERM // may_write_xattr
	case isACL(o.Name):
		r.Errno = v.aclError(n, o, is)
		if r.Errno == 0 && o.Code != Getxattr && v.tree.isReadOnly(i) {
			r.Errno = unix.EROFS
		}
	default:
		r.Errno = v.xattrError(n, o, is)
		if r.Errno != unix.ERANGE && r.Errno != unix.EPERM && o.Code != Getxattr {
			r.Errno = cmp.Or(v.tree.mayWrite(i), r.Errno)
		}
	}
	switch {
	case r.Errno != 0:
		return r
	case o.Code == Getxattr:
		return Result{Data: value}
	case o.Code == Setxattr:
		a.xattrs = a.withXattr(o.Name, o.Value)
		if o.Name == aclName {
			a.mode = accessList(o.Value).mode()
		}
	default:
		a.xattrs = a.withoutXattr(o.Name)
	}
	n.setAttrs(a, v.now)
	return Result{}
}

// xattrError returns the error of an operation on an extended attribute, which the file has or not.
func (v *volume) xattrError(n *inode, o Op, is bool) unix.Errno {
	known := strings.HasPrefix(o.Name, userPrefix) && o.Name != userPrefix
	switch {
	case o.Name == "" || len(o.Name) > 255: // XATTR_NAME_MAX
		return unix.ERANGE
	case !known:
		return unix.EOPNOTSUPP
	case n.kind != File && n.kind != Dir && o.Code == Getxattr:
		return unix.ENODATA
	case n.kind != File && n.kind != Dir:
		return unix.EPERM
	case v.promises.NoXattrs:
		return unix.EOPNOTSUPP
	case !is && (o.Code != Setxattr || o.Flags == unix.XATTR_REPLACE):
		return unix.ENODATA
	case is && o.Code == Setxattr && o.Flags == unix.XATTR_CREATE:
		return unix.EEXIST
	}
	return 0
}

// aclError is xattrError of an access control list. The kernel ignores the flags, and lets a list
// be removed that does not exist (fs/posix_acl.c).
func (v *volume) aclError(n *inode, o Op, is bool) unix.Errno {
	switch {
	case !v.promises.Has(ACL) || n.kind == Symbolic:
		return unix.EOPNOTSUPP
	case o.Code == Setxattr && !accessList(o.Value).valid():
		return unix.EINVAL
	case o.Code == Setxattr && o.Name == defaultACLName && n.kind != Dir:
		return unix.EACCES
	case o.Code == Getxattr && !is:
		return unix.ENODATA
	}
	return 0
}
