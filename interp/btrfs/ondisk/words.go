package ondisk

import "fsward/change"

// The words that stand for numbers in the values of fields.
const (
	WordNone change.WordID = iota // change.WordPresent: stands for no number
	WordReg
	WordDir
	WordChr
	WordBlk
	WordFifo
	WordSock
	WordLnk
	WordData
	WordTreeBlock
	WordInline
	WordPrealloc
	WordCount
)

var words = [WordCount]string{"present", "s_ifreg", "s_ifdir", "s_ifchr", "s_ifblk", "s_ififo",
	"s_ifsock", "s_iflnk", "data", "tree_block", "inline", "prealloc"}

// The words of a field, indexed by its number. WordNone marks an invalid number.
var (
	modeWords = []change.WordID{1: WordFifo, 2: WordChr, 4: WordDir, 6: WordBlk, 8: WordReg,
		10: WordLnk, 12: WordSock, 15: WordNone}
	entryWords = []change.WordID{1: WordReg, 2: WordDir, 3: WordChr, 4: WordBlk, 5: WordFifo,
		6: WordSock, 7: WordLnk}
	extentWords = []change.WordID{ExtentFlagData: WordData, ExtentFlagTreeBlock: WordTreeBlock,
		3: WordNone}
	dataWords = []change.WordID{0: WordInline, 1: WordData, 2: WordPrealloc}
)
