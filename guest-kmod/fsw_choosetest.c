// SPDX-License-Identifier: GPL-2.0
/*
 * A test of fsw_ekm: takes a choice in the thread that loads the module, and
 * another one, with an allocation, in the interrupt of a timer. The results are in
 * /sys/module/fsw_choosetest/parameters.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fsw_choose.h"

static unsigned int bound = 2;
module_param(bound, uint, 0444);
MODULE_PARM_DESC(bound, "number of actions to choose from (2)");

static unsigned int in_thread;
module_param(in_thread, uint, 0444);
MODULE_PARM_DESC(in_thread, "result: the choice of the thread");

static unsigned int in_interrupt;
module_param(in_interrupt, uint, 0444);
MODULE_PARM_DESC(in_interrupt, "result: the choice of the interrupt");

static bool allocated;
module_param(allocated, bool, 0444);
MODULE_PARM_DESC(allocated, "result: whether the allocation of the interrupt succeeded");

static DECLARE_COMPLETION(done);

static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	void *memory = kmalloc(64, GFP_ATOMIC);

	in_interrupt = fsw_ekm_choose(bound);
	allocated = memory;
	kfree(memory);
	complete(&done);
	return HRTIMER_NORESTART;
}

static int __init choosetest_init(void)
{
	static struct hrtimer timer;

	in_thread = fsw_ekm_choose(bound);
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = interrupt;
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	wait_for_completion(&done);
	hrtimer_cancel(&timer);
	return 0;
}

static void __exit choosetest_exit(void)
{
}

module_init(choosetest_init);
module_exit(choosetest_exit);
MODULE_DESCRIPTION("fsward: takes choices, to test fsw_ekm");
MODULE_LICENSE("GPL");
