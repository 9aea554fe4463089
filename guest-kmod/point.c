// SPDX-License-Identifier: GPL-2.0
/* Choice points in the kernel: a hit of one of their probes takes a choice. */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "internal.h"

static struct point {
	u32 mode;
	u64 stack;	/* the limit: hash of a stack; 0: none */
	u64 symbol;	/* the limit: hash of a symbol; 0: none */
	atomic64_t hits, failed, elsewhere, exempt, foreign, interrupts, full;
} points[FSW_EK_POINTS];

static DEFINE_SPINLOCK(sites_lock);
static struct fsw_ek_site *sites;	/* FSW_EK_SITES */
static u32 site_count;

int fsw_point_init(void)
{
	sites = vmalloc(array_size(FSW_EK_SITES, sizeof(*sites)));
	return sites ? 0 : -ENOMEM;
}

void fsw_point_exit(void)
{
	vfree(sites);
}

static void count_site(struct point *p, u32 point, const struct fsw_site *site, bool failed)
{
	struct fsw_ek_site *s;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&sites_lock, flags);
	for (i = 0; i < site_count; i++)
		if (sites[i].stack == site->stack && sites[i].point == point)
			break;
	if (i == FSW_EK_SITES) {
		atomic64_inc(&p->full);
		goto unlock;
	}
	s = &sites[i];
	if (i == site_count) {
		*s = (struct fsw_ek_site){ .stack = site->stack, .point = point };
		strscpy(s->site, site->text, sizeof(s->site));
		site_count++;
	}
	s->hits++;
	s->failed += failed;
unlock:
	spin_unlock_irqrestore(&sites_lock, flags);
}

/*
 * fsw_point_ask() - decide whether a call that hit a probe of a point fails.
 * @thread: the probe was hit in a thread, and not in an interrupt
 * @caller: return address of the probed function
 * @exempt: the call must not fail
 *
 * Returns true if the call fails.
 */
bool fsw_point_ask(u32 point, bool thread, unsigned long caller, bool exempt)
{
	struct point *p = &points[point];
	u32 mode = READ_ONCE(p->mode);
	struct fsw_site site;
	bool fail;

	if (mode == FSW_EK_OFF)
		return false;
	if (!thread) {
		atomic64_inc(&p->interrupts);
		return false;
	}
	if (within_module(caller, THIS_MODULE)) /* commands do not fail */
		return false;
	if (!fsw_is_member()) {
		atomic64_inc(&p->foreign);
		return false;
	}
	if (exempt) {
		atomic64_inc(&p->exempt);
		return false;
	}
	fsw_site_take(&site, caller);
	if ((p->stack && p->stack != site.stack) ||
	    (p->symbol && !fsw_site_has(&site, p->symbol))) {
		atomic64_inc(&p->elsewhere);
		return false;
	}
	fail = mode == FSW_EK_ON && fsw_choose(point, 2, &site) == 1;
	atomic64_inc(&p->hits);
	atomic64_add(fail, &p->failed);
	count_site(p, point, &site, fail);
	return fail;
}

/* fsw_point_set() - set the mode of a point, and reset its counts. */
int fsw_point_set(const struct fsw_ek_set *set)
{
	size_t len = strnlen(set->symbol, sizeof(set->symbol));
	u32 bit, wanted = fsw_probes_wanted();
	struct point *p;
	u32 i, kept = 0;
	int err;

	if (set->point == FSW_EK_CALL || set->point >= FSW_EK_POINTS || set->mode > FSW_EK_ON ||
	    len == sizeof(set->symbol))
		return -EINVAL;
	p = &points[set->point];
	bit = 1U << set->point;
	/*
	 * No probe may use the point while it changes. So its probes are removed. A
	 * probe that another group needs stays; synchronize_rcu() waits until its
	 * handlers, which run without preemption, have returned.
	 */
	WRITE_ONCE(p->mode, FSW_EK_OFF);
	fsw_probes_want(wanted & ~bit);
	if (fsw_probes_on(set->point))
		synchronize_rcu();
	*p = (struct point){ .stack = set->stack, .symbol = len ? fsw_hash_text(set->symbol) : 0 };
	spin_lock_irq(&sites_lock);
	for (i = 0; i < site_count; i++)
		if (sites[i].point != set->point)
			sites[kept++] = sites[i];
	site_count = kept;
	spin_unlock_irq(&sites_lock);
	if (set->mode == FSW_EK_OFF)
		return 0;
	err = fsw_probes_want(wanted | bit);
	if (err)
		return err;
	WRITE_ONCE(p->mode, set->mode);
	return 0;
}

int fsw_point_stat(struct fsw_ek_stat *stat)
{
	struct point *p;

	if (stat->point == FSW_EK_CALL || stat->point >= FSW_EK_POINTS)
		return -EINVAL;
	p = &points[stat->point];
	*stat = (struct fsw_ek_stat){
		.point = stat->point,
		.mode = p->mode,
		.functions = fsw_probes_on(stat->point),
		.hits = atomic64_read(&p->hits),
		.failed = atomic64_read(&p->failed),
		.elsewhere = atomic64_read(&p->elsewhere),
		.exempt = atomic64_read(&p->exempt),
		.foreign = atomic64_read(&p->foreign),
		.interrupts = atomic64_read(&p->interrupts),
		.full = atomic64_read(&p->full),
	};
	return 0;
}

int fsw_point_sites(struct fsw_ek_sites *a)
{
	spin_lock_irq(&sites_lock);
	a->count = 0;
	if (a->from < site_count) {
		a->count = min_t(u32, site_count - a->from, FSW_EK_SITES_PER);
		memcpy(a->sites, sites + a->from, a->count * sizeof(*sites));
	}
	spin_unlock_irq(&sites_lock);
	return 0;
}
