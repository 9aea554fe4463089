// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites. Addresses differ from boot to boot. So symbols and offsets name a
 * site, and the hash of a stack is that of symbols and offsets. Finding a name is
 * slow, so names are cached by address.
 */
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "internal.h"

struct name {
	unsigned long address;	/* 0: free */
	u64 symbol;		/* hash of symbol */
	u64 place;		/* hash of symbol+0xoffset */
	bool inner;		/* begins with one of inner_functions */
	char text[FSW_EK_TEXT];	/* symbol+0xoffset */
};

#define NAME_BITS 10

static DEFINE_SPINLOCK(site_lock);
static struct name names[1 << NAME_BITS];	/* under site_lock */
static char symbol_buffer[KSYM_SYMBOL_LEN];	/* under site_lock */

/* Prefixes of functions that allocate, read and copy for others: their caller is the site. */
static const char *const inner_functions[] = {
	"kmem_cache_", "__kmem_cache_", "__kmalloc", "kmalloc", "kmemdup", "kstrdup", "kvmalloc",
	"kvmemdup", "krealloc", "slab_", "___slab_alloc", "__slab_alloc", "new_slab",
	"allocate_slab", "mempool_", "__alloc_pages", "alloc_pages", "__get_free_pages",
	"get_zeroed_page", "folio_alloc", "__folio_alloc", "vma_alloc_folio", "__alloc_bulk",
	"alloc_inode", "new_inode", "iget_locked", "radix_tree_node_alloc", "xas_", "__xas_",
	"__xa_", "xa_", "submit_bio", "__submit_bio", "submit_bh", "bio_", "blk_",
	"copy_from_user", "copy_to_user", "read_cache_", "pagecache_get_page",
	"__filemap_get_folio", "grab_cache_page",
};

/* 64-bit FNV-1a. */
static u64 hash_bytes(u64 hash, const void *bytes, size_t n)
{
	const u8 *b = bytes;

	while (n--)
		hash = (hash ^ *b++) * 0x100000001b3ULL;
	return hash;
}

#define HASH_START 0xcbf29ce484222325ULL

u64 fsw_hash_text(const char *text)
{
	return hash_bytes(HASH_START, text, strlen(text));
}

static bool is_inner(const char *text)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(inner_functions); i++)
		if (!strncmp(text, inner_functions[i], strlen(inner_functions[i])))
			return true;
	return false;
}

/* Returns the name of an address. The caller holds site_lock. */
static struct name *name_of(unsigned long address)
{
	struct name *n = &names[hash_long(address, NAME_BITS)];
	char *end;

	if (n->address == address)
		return n;
	sprint_symbol(symbol_buffer, address); /* symbol+0xoffset/0xsize [module] */
	end = strchrnul(symbol_buffer, '/');
	*end = 0;
	n->address = address;
	strscpy(n->text, symbol_buffer, sizeof(n->text));
	n->place = fsw_hash_text(symbol_buffer);
	end = strchrnul(symbol_buffer, '+');
	n->symbol = hash_bytes(HASH_START, symbol_buffer, end - symbol_buffer);
	n->inner = is_inner(n->text);
	return n;
}

/*
 * A new module may have functions at the addresses of an unloaded module, or of the
 * initialization code of another. So the cache is cleared.
 */
static int module_changes(struct notifier_block *nb, unsigned long what, void *module)
{
	unsigned long flags;

	if (what == MODULE_STATE_COMING) {
		spin_lock_irqsave(&site_lock, flags);
		memset(names, 0, sizeof(names));
		spin_unlock_irqrestore(&site_lock, flags);
	}
	return NOTIFY_DONE;
}

static struct notifier_block modules = { .notifier_call = module_changes };

int fsw_site_init(void)
{
	return register_module_notifier(&modules);
}

void fsw_site_exit(void)
{
	unregister_module_notifier(&modules);
}

/* fsw_symbol() - write symbol+0xoffset of an address to text, of FSW_EK_TEXT bytes. */
void fsw_symbol(char *text, unsigned long address)
{
	unsigned long flags;

	spin_lock_irqsave(&site_lock, flags);
	memcpy(text, name_of(address)->text, FSW_EK_TEXT);
	spin_unlock_irqrestore(&site_lock, flags);
}

/*
 * fsw_site_take() - find the call site of the current thread.
 * @caller: return address of the probed function; frames inside of it are ours
 */
void fsw_site_take(struct fsw_site *site, unsigned long caller)
{
	unsigned long all[FSW_FRAMES + 16];
	unsigned int n = stack_trace_save(all, ARRAY_SIZE(all), 0);
	unsigned int first, i;
	const struct name *name;
	unsigned long flags;
	bool found = false;

	for (first = 0; first < n && all[first] != caller; first++)
		;
	if (first == n) { /* the stack cannot be walked: use only the caller */
		all[0] = caller;
		first = 0;
		n = 1;
	}
	site->n = min_t(unsigned int, n - first, FSW_FRAMES);
	site->stack = HASH_START;
	memcpy(site->frames, all + first, site->n * sizeof(all[0]));
	spin_lock_irqsave(&site_lock, flags);
	for (i = 0; i < site->n; i++) {
		name = name_of(site->frames[i]);
		site->stack = hash_bytes(site->stack, &name->place, sizeof(name->place));
		if (!found && (!name->inner || i == site->n - 1)) {
			memcpy(site->text, name->text, sizeof(site->text));
			found = true;
		}
	}
	spin_unlock_irqrestore(&site_lock, flags);
}

/* fsw_site_has() - report whether the stack has a symbol or symbol+0xoffset with this hash. */
bool fsw_site_has(const struct fsw_site *site, u64 symbol)
{
	const struct name *name;
	unsigned long flags;
	bool has = false;
	unsigned int i;

	spin_lock_irqsave(&site_lock, flags);
	for (i = 0; i < site->n && !has; i++) {
		name = name_of(site->frames[i]);
		has = name->symbol == symbol || name->place == symbol;
	}
	spin_unlock_irqrestore(&site_lock, flags);
	return has;
}
