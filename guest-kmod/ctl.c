// SPDX-License-Identifier: GPL-2.0
/* The commands. They run one at a time, under fsw_ctl_lock. */
#include <linux/string.h>

#include "command.h"
#include "devices.h"
#include "internal.h"

static u32 probe_count(void)
{
	u32 point, n = fsw_probes_on(FSW_GROUP_WRITES) + fsw_syscalls_on();

	for (point = FSW_EK_CALL + 1; point < FSW_EK_POINTS; point++)
		n += fsw_probes_on(point);
	return n;
}

static int do_hello(void *arg)
{
	struct fsw_ek_hello *a = arg;
	u32 probes = probe_count();
	u64 missed = fsw_probes_missed() + fsw_syscalls_missed();

	spin_lock_irq(&fsw_log_lock);
	*a = (struct fsw_ek_hello){
		.abi = FSW_EK_ABI,
		.what = fsw_log_what,
		.probes = probes,
		.log_bytes = fsw_ring.size,
		.log_used = fsw_ring.head - READ_ONCE(fsw_ring.tail),
		.lost = fsw_ring.lost,
		.missed = missed,
	};
	spin_unlock_irq(&fsw_log_lock);
	return 0;
}

static int do_choose(void *arg)
{
	struct fsw_ek_choose *a = arg;
	struct fsw_site site = { .n = 0 };

	if (!a->bound || a->bound > FSW_EK_BOUND ||
	    strnlen(a->site, sizeof(a->site)) == sizeof(a->site))
		return -EINVAL;
	strscpy(site.text, a->site, sizeof(site.text));
	site.stack = fsw_hash_text(site.text);
	a->value = fsw_choose_call(a->bound, &site);
	return 0;
}

static int do_load(void *arg)
{
	return fsw_choose_load(arg);
}

static int do_start(void *arg)
{
	fsw_choose_start();
	return 0;
}

static int do_state(void *arg)
{
	fsw_choose_state(arg);
	return 0;
}

static int do_taken(void *arg)
{
	return fsw_choose_taken(arg);
}

static int do_set(void *arg)
{
	return fsw_point_set(arg);
}

static int do_stat(void *arg)
{
	return fsw_point_stat(arg);
}

static int do_sites(void *arg)
{
	return fsw_point_sites(arg);
}

static int do_member(void *arg)
{
	return fsw_member_set(arg);
}

static int do_watch(void *arg)
{
	return fsw_watch(arg);
}

static int do_log(void *arg)
{
	const struct fsw_ek_log *a = arg;
	u32 writes = 1U << FSW_GROUP_WRITES;
	u32 groups = fsw_probes_wanted() & ~writes;
	int err;

	if (a->pad || a->what & ~(FSW_EK_LOG_WRITES | FSW_EK_LOG_CALLS | FSW_EK_LOG_CHOICES))
		return -EINVAL;
	err = fsw_ring_alloc();
	if (err)
		return err;
	if (a->what & FSW_EK_LOG_WRITES) {
		fsw_log_order(true);
		groups |= writes;
	}
	err = fsw_probes_want(groups);
	if (err)
		return err;
	if (!(a->what & FSW_EK_LOG_WRITES)) /* only now no probe adds a record */
		fsw_log_order(false);
	err = fsw_syscalls_want(a->what & FSW_EK_LOG_CALLS);
	if (err)
		return err;
	WRITE_ONCE(fsw_log_what, a->what);
	return 0;
}

static int do_mark(void *arg)
{
	const struct fsw_ek_mark *a = arg;
	struct fsw_ek_record rec = { .type = FSW_EK_T_MARK, .data_len = a->len };
	int err;

	err = fsw_mark_check(a->len, a->pad, sizeof(a->text));
	if (err)
		return err;
	fsw_log_put(&rec, a->text, NULL);
	return 0;
}

static int do_threads(void *arg)
{
	return fsw_threads(arg);
}

static int do_hold(void *arg)
{
	return fsw_hold(arg);
}

static int do_stray(void *arg)
{
	fsw_stray(arg);
	return 0;
}

static int do_check(void *arg)
{
	return fsw_check(arg);
}

static int do_findings(void *arg)
{
	return fsw_findings(arg);
}

static int do_edges(void *arg)
{
	return fsw_edges(arg);
}

const struct fsw_command fsw_commands[] = {
	{ FSW_EK_IOC_HELLO, do_hello },
	{ FSW_EK_IOC_CHOOSE, do_choose },
	{ FSW_EK_IOC_LOAD, do_load },
	{ FSW_EK_IOC_START, do_start },
	{ FSW_EK_IOC_STATE, do_state },
	{ FSW_EK_IOC_TAKEN, do_taken },
	{ FSW_EK_IOC_SET, do_set },
	{ FSW_EK_IOC_STAT, do_stat },
	{ FSW_EK_IOC_SITES, do_sites },
	{ FSW_EK_IOC_MEMBER, do_member },
	{ FSW_EK_IOC_WATCH, do_watch },
	{ FSW_EK_IOC_LOG, do_log },
	{ FSW_EK_IOC_MARK, do_mark },
	{ FSW_EK_IOC_THREADS, do_threads },
	{ FSW_EK_IOC_HOLD, do_hold },
	{ FSW_EK_IOC_STRAY, do_stray },
	{ FSW_EK_IOC_CHECK, do_check },
	{ FSW_EK_IOC_FINDINGS, do_findings },
	{ FSW_EK_IOC_EDGES, do_edges },
	{ }
};
