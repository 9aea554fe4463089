// SPDX-License-Identifier: GPL-2.0
/*
 * The graph of locks: mutexes and read-write semaphores. An edge leads from a lock
 * that a thread held to one that it wanted then. A cycle is a circular wait. A failed
 * attempt cannot be told from a successful one when it begins, so attempts are left
 * out: what they took is not known to be held.
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "check.h"
#include "internal.h"

#define NAME_BITS 14
#define EDGE_BITS 12
#define KINDS 255

/*
 * A lock that was initialized while locks were checked. A lock at the address of
 * another one that was freed has another generation.
 */
struct name {
	u64 lock;
	u32 generation;		/* 0: free */
	u32 kind;		/* index in kinds, from 1 */
};

struct edge {
	u64 from, to;		/* 0: free */
	u32 from_generation, to_generation;
	u64 hits;
	unsigned long from_site, to_site;
	u32 gates;
	u64 gate[FSW_EK_GATES];	/* locks that were held each time */
	char comm[16];
};

static struct name *names;
static struct edge *edges;
static char kinds[KINDS][FSW_EK_LOCK_NAME];	/* names of locks, in the order of their use */
static u32 kind_count, generations;

int fsw_locks_alloc(void)
{
	if (!names)
		names = vzalloc(array_size(1 << NAME_BITS, sizeof(*names)));
	if (!edges)
		edges = vzalloc(array_size(1 << EDGE_BITS, sizeof(*edges)));
	return names && edges ? 0 : -ENOMEM;
}

void fsw_locks_free(void)
{
	vfree(names);
	vfree(edges);
}

/* fsw_locks_forget() - forget the graph, and not which locks there are. */
void fsw_locks_forget(void)
{
	if (edges)
		memset(edges, 0, array_size(1 << EDGE_BITS, sizeof(*edges)));
}

/* Returns the name of a lock; NULL if it has none. */
static struct name *name_of(u64 lock)
{
	u32 at = hash_64(lock, NAME_BITS);
	int i;

	for (i = 0; i < FSW_WINDOW; i++) {
		struct name *n = &names[(at + i) % (1 << NAME_BITS)];

		if (n->generation && n->lock == lock)
			return n;
	}
	return NULL;
}

static u32 generation_of(u64 lock)
{
	const struct name *n = name_of(lock);

	return n ? n->generation : 0;
}

static u32 kind_of(const char *name)
{
	u32 i;

	for (i = 0; i < kind_count; i++)
		if (!strncmp(kinds[i], name, FSW_EK_LOCK_NAME - 1))
			return i + 1;
	if (kind_count == KINDS)
		return 0;
	strscpy(kinds[kind_count++], name, FSW_EK_LOCK_NAME);
	return kind_count;
}

/* __mutex_init(lock, name, key), __init_rwsem(lock, name, key) */
void fsw_lock_made(const struct fsw_probe *p, struct pt_regs *regs)
{
	u64 lock = regs_get_kernel_argument(regs, 0);
	u32 at = hash_64(lock, NAME_BITS);
	struct name *n, *old = NULL;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&fsw_check_lock, flags);
	n = name_of(lock);
	for (i = 0; !n && i < FSW_WINDOW; i++) {
		struct name *other = &names[(at + i) % (1 << NAME_BITS)];

		if (!old || other->generation < old->generation)
			old = other;
	}
	if (!n)
		n = old;
	n->lock = lock;
	n->generation = ++generations;
	n->kind = kind_of((const char *)regs_get_kernel_argument(regs, 1));
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

/*
 * Reports whether two locks have the same name. The order of such locks is that of
 * what they protect, such as directories, and may change with it.
 */
static bool alike(u64 a, u64 b)
{
	const struct name *m = name_of(a), *n = name_of(b);

	return m && n && m->kind == n->kind;
}

static struct edge *edge_of(u64 from, u64 to)
{
	u32 at = hash_64(from ^ hash_64(to, 64), EDGE_BITS);
	struct edge *e, *free = NULL;
	int i;

	for (i = 0; i < 2 * FSW_WINDOW; i++) {
		e = &edges[(at + i) % (1 << EDGE_BITS)];
		if (e->from == from && e->to == to)
			return e;
		if (!free && !e->from)
			free = e;
	}
	if (!free)
		fsw_check_full();
	return free;
}

/* Keeps those gates of an edge that the thread holds now. */
static void keep_gates(struct edge *e, const struct fsw_task *t)
{
	u32 i, j, kept = 0;

	for (i = 0; i < e->gates; i++)
		for (j = 0; j < t->n; j++)
			if (t->held[j].lock == e->gate[i]) {
				e->gate[kept++] = e->gate[i];
				break;
			}
	e->gates = kept;
}

static void add_edge(const struct fsw_task *t, const struct fsw_held *held, u64 lock,
		     unsigned long site)
{
	u32 from = generation_of(held->lock), to = generation_of(lock);
	struct edge *e = edge_of(held->lock, lock);
	u32 i;

	if (!e)
		return;
	if (e->from && e->from_generation == from && e->to_generation == to) {
		e->hits++;
		keep_gates(e, t);
		return;
	}
	*e = (struct edge){
		.from = held->lock, .to = lock,
		.from_generation = from, .to_generation = to,
		.from_site = held->site, .to_site = site,
		.hits = 1,
	};
	memcpy(e->comm, current->comm, sizeof(e->comm) - 1);
	for (i = 0; i < t->n && e->gates < FSW_EK_GATES; i++)
		if (t->held[i].lock != held->lock)
			e->gate[e->gates++] = t->held[i].lock;
}

void fsw_lock_wanted(const struct fsw_probe *p, struct pt_regs *regs)
{
	unsigned long site = regs_get_kernel_stack_nth(regs, 0);
	u64 lock = regs_get_kernel_argument(regs, 0);
	struct fsw_task *t;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&fsw_check_lock, flags);
	t = fsw_task(true);
	if (!t)
		goto unlock;
	for (i = 0; i < t->n; i++)
		if (t->held[i].lock != lock && !alike(t->held[i].lock, lock))
			add_edge(t, &t->held[i], lock, site);
	if (t->n < FSW_HELD)
		t->held[t->n++] = (struct fsw_held){ .lock = lock, .site = site };
	else
		fsw_check_full();
unlock:
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

static bool release(struct fsw_task *t, u64 lock)
{
	u32 i;

	for (i = t->n; i > 0; i--)
		if (t->held[i - 1].lock == lock) {
			t->n--;
			memmove(&t->held[i - 1], &t->held[i],
				(t->n - (i - 1)) * sizeof(t->held[0]));
			fsw_task_put(t);
			return true;
		}
	return false;
}

/* Another thread may release a lock than the one that took it. */
void fsw_lock_released(const struct fsw_probe *p, struct pt_regs *regs)
{
	u64 lock = regs_get_kernel_argument(regs, 0);
	struct fsw_task *t;
	unsigned long flags;

	spin_lock_irqsave(&fsw_check_lock, flags);
	t = fsw_task(false);
	if (!t || !release(t, lock))
		fsw_task_each(release, lock);
	spin_unlock_irqrestore(&fsw_check_lock, flags);
}

static void put_name(char *text, u64 lock)
{
	const struct name *n = name_of(lock);

	if (n && n->kind)
		strscpy(text, kinds[n->kind - 1], FSW_EK_LOCK_NAME);
}

/* fsw_locks_left() - report the locks that a thread holds at the end of a system call. */
void fsw_locks_left(const struct fsw_task *t, int nr)
{
	char site[FSW_EK_TEXT], text[FSW_EK_FINDING];
	u32 i;

	for (i = 0; i < t->n; i++) {
		char name[FSW_EK_LOCK_NAME] = "a lock";

		put_name(name, t->held[i].lock);
		fsw_symbol(site, t->held[i].site);
		snprintf(text, sizeof(text), "%s, taken at %s, is held after system call %d",
			 name, site, nr);
		fsw_finding(FSW_EK_LOCK_LEFT, text);
	}
}

/* fsw_edges() - list edges of the graph. */
int fsw_edges(struct fsw_ek_edges *a)
{
	u32 i = a->from;

	a->count = 0;
	if (!edges)
		return 0;
	spin_lock_irq(&fsw_check_lock);
	for (; i < 1 << EDGE_BITS && a->count < FSW_EK_EDGES_PER; i++) {
		const struct edge *e = &edges[i];
		struct fsw_ek_edge *out = &a->edges[a->count];

		if (!e->from || e->from_generation != generation_of(e->from) ||
		    e->to_generation != generation_of(e->to))
			continue;
		*out = (struct fsw_ek_edge){
			.from = e->from, .to = e->to, .hits = e->hits, .gates = e->gates,
		};
		memcpy(out->gate, e->gate, sizeof(out->gate));
		memcpy(out->comm, e->comm, sizeof(out->comm));
		put_name(out->from_name, e->from);
		put_name(out->to_name, e->to);
		fsw_symbol(out->from_site, e->from_site);
		fsw_symbol(out->to_site, e->to_site);
		a->count++;
	}
	a->from = i;
	spin_unlock_irq(&fsw_check_lock);
	return 0;
}
