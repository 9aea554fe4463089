// SPDX-License-Identifier: GPL-2.0
/*
 * The sequence of choices. The loaded values are replayed, and extended with
 * zeros. Each choice is recorded.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "fsw_choose.h"
#include "internal.h"

static DEFINE_SPINLOCK(choose_lock);
static u32 *loaded;			/* FSW_EK_CHOICES */
static struct fsw_ek_choice *taken;	/* FSW_EK_CHOICES */
static struct fsw_ek_run state;
static atomic64_t foreign, interrupts;

int fsw_choose_init(void)
{
	loaded = vmalloc(array_size(FSW_EK_CHOICES, sizeof(*loaded)));
	taken = vmalloc(array_size(FSW_EK_CHOICES, sizeof(*taken)));
	if (loaded && taken)
		return 0;
	fsw_choose_exit();
	return -ENOMEM;
}

void fsw_choose_exit(void)
{
	vfree(loaded);
	vfree(taken);
}

/*
 * fsw_choose() - take the next choice.
 * @bound: number of possible values, 1 to FSW_EK_BOUND; 1 is no choice, and is not recorded
 *
 * Returns the value, 0 to bound-1.
 */
u32 fsw_choose(u32 point, u32 bound, const struct fsw_site *site)
{
	struct fsw_ek_record rec = { .type = FSW_EK_T_CHOICE, .flags = point, .len = bound };
	struct fsw_ek_choice *c;
	unsigned long flags;
	u32 n;

	if (bound == 1)
		return 0;
	spin_lock_irqsave(&choose_lock, flags);
	n = state.taken;
	if (n == FSW_EK_CHOICES) {
		state.full++;
		spin_unlock_irqrestore(&choose_lock, flags);
		return 0;
	}
	c = &taken[n];
	*c = (struct fsw_ek_choice){
		.bound = bound,
		.point = point,
		.pid = task_pid_nr(current),
		.tgid = task_tgid_nr(current),
		.stack = site->stack,
	};
	memcpy(c->comm, current->comm, sizeof(c->comm) - 1);
	strscpy(c->site, site->text, sizeof(c->site));
	if (n < state.loaded) {
		c->flags = FSW_EK_F_REPLAYED;
		c->value = loaded[n];
		if (c->value >= bound) {
			c->flags |= FSW_EK_F_DIVERGED;
			c->value = 0;
			state.diverged++;
		}
	}
	state.taken++;
	if (fsw_logs(FSW_EK_LOG_CHOICES)) {
		rec.pos = n;
		rec.status = c->value;
		rec.data_len = strlen(c->site);
		fsw_log_put(&rec, c->site, NULL);
	}
	n = c->value;
	spin_unlock_irqrestore(&choose_lock, flags);
	return n;
}

/* fsw_choose_call() - fsw_choose() for the current thread; 0 if it is no member. */
u32 fsw_choose_call(u32 bound, const struct fsw_site *site)
{
	if (!fsw_is_member()) {
		atomic64_inc(&foreign);
		return 0;
	}
	return fsw_choose(FSW_EK_CALL, bound, site);
}

/**
 * fsw_ekm_choose() - choose one of several actions at a point of the kernel
 * @bound: number of actions, 1 to FSW_EK_BOUND
 *
 * Return: the action, 0 to bound-1; 0 in interrupts and in threads that are no
 * members of the checked system.
 */
u32 fsw_ekm_choose(u32 bound)
{
	struct fsw_site site;

	if (WARN_ON_ONCE(!bound || bound > FSW_EK_BOUND))
		return 0;
	if (!in_task()) {
		atomic64_inc(&interrupts);
		return 0;
	}
	fsw_site_take(&site, _RET_IP_);
	return fsw_choose_call(bound, &site);
}
EXPORT_SYMBOL_GPL(fsw_ekm_choose);

int fsw_choose_load(const struct fsw_ek_load *l)
{
	int err = 0;

	if (l->count > FSW_EK_VALUES_PER || l->from > FSW_EK_CHOICES - l->count)
		return -EINVAL;
	spin_lock_irq(&choose_lock);
	if (l->from && l->from != state.loaded) {
		err = -EINVAL;
	} else {
		memcpy(loaded + l->from, l->values, l->count * sizeof(*loaded));
		state.loaded = l->from + l->count;
	}
	spin_unlock_irq(&choose_lock);
	return err;
}

/* fsw_choose_start() - begin a run at the first choice. The loaded values stay. */
void fsw_choose_start(void)
{
	spin_lock_irq(&choose_lock);
	state = (struct fsw_ek_run){ .loaded = state.loaded };
	atomic64_set(&foreign, 0);
	atomic64_set(&interrupts, 0);
	spin_unlock_irq(&choose_lock);
}

void fsw_choose_state(struct fsw_ek_run *r)
{
	spin_lock_irq(&choose_lock);
	*r = state;
	spin_unlock_irq(&choose_lock);
	r->foreign = atomic64_read(&foreign);
	r->interrupts = atomic64_read(&interrupts);
}

int fsw_choose_taken(struct fsw_ek_taken *t)
{
	spin_lock_irq(&choose_lock);
	t->count = 0;
	if (t->from < state.taken) {
		t->count = min_t(u32, state.taken - t->from, FSW_EK_CHOICES_PER);
		memcpy(t->choices, taken + t->from, t->count * sizeof(*taken));
	}
	spin_unlock_irq(&choose_lock);
	return 0;
}
