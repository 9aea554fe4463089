// Package fsward contains only tests of the whole project: its imports, packages and documents.
// Start reading at hostd/guard.
package fsward
