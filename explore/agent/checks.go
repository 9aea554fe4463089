package agent

import (
	"errors"

	"fsward/explore/ekm"
)

// A KernelFinding is a bug of the kernel that a check of the module fsw_ekm found.
type KernelFinding struct {
	Kind string // of ekm.FindingKind
	Text string
}

// maxFound bounds the findings of KernelFindings.
const maxFound = 1024

// CheckKernel switches exactly these checks on, and forgets what was found. It fails with ENOENT or
// ENXIO if the module fsw_ekm is not loaded, and with ENOENT if the kernel lacks KMEMLEAK or all
// functions of a check.
func CheckKernel(what ekm.Checks) Op { return Op{Code: opCheckKernel, a: uint64(what)} }

// KernelFindings takes what these checks found since CheckKernel. DecodeFindings reads Data. With
// ekm.Memory, it takes some seconds.
func KernelFindings(what ekm.Checks) Op { return Op{Code: opKernelFindings, a: uint64(what)} }

// EncodeFindings returns the Data of KernelFindings.
func EncodeFindings(list []KernelFinding) (b []byte) {
	for _, f := range list {
		b = appendBytes(appendBytes(b, f.Kind), f.Text)
	}
	return b
}

// DecodeFindings reads the Data of KernelFindings.
func DecodeFindings(data []byte) (out []KernelFinding, err error) {
	d := decoder{b: data}
	for len(d.b) > 0 && d.err == nil && len(out) < maxFound {
		out = append(out, KernelFinding{d.text(MaxPath), d.text(MaxText)})
	}
	return out, d.finish("findings")
}

// checkKernel performs CheckKernel and KernelFindings.
func checkKernel(o *Op) (data []byte, err error) {
	what := ekm.Checks(o.a)
	var lost []KernelFinding
	if what&ekm.Memory != 0 {
		if lost, err = checkMemory(o.Code == opKernelFindings); err != nil {
			return nil, err
		}
	}
	found, err := checkByModule(what&ekm.OfModule, o.Code == opKernelFindings)
	return EncodeFindings(append(found, lost...)), err
}

// checkByModule begins checks of the module, or takes what they found.
func checkByModule(what ekm.Checks, take bool) (out []KernelFinding, err error) {
	ctl, err := ekm.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ctl.Close()) }()
	if !take {
		return nil, ctl.Check(what)
	}
	found, err := ctl.Findings()
	for _, f := range found {
		out = append(out, KernelFinding{f.Kind.String(), f.Text})
	}
	return out, err
}
