// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A data race, for LANE=kcsan: as long as the module is there, one thread counts and
 * another one looks, and neither says so to the other. A lane that does not report this
 * reports nothing.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

/* Not static: the compiler has to take others into account that it cannot see. */
unsigned long race_count;
unsigned long race_seen;

static struct task_struct *race_threads[2];

static noinline void race_write(void)
{
	race_count++;
}

static noinline void race_read(void)
{
	race_seen = race_count;
}

static int race_thread(void *arg)
{
	void (*turn)(void) = arg;
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++)
			turn();
		usleep_range(100, 1000);
	}
	return 0;
}

static int __init race_init(void)
{
	race_threads[0] = kthread_run(race_thread, race_write, "race_write");
	if (IS_ERR(race_threads[0]))
		return PTR_ERR(race_threads[0]);
	race_threads[1] = kthread_run(race_thread, race_read, "race_read");
	if (IS_ERR(race_threads[1])) {
		kthread_stop(race_threads[0]);
		return PTR_ERR(race_threads[1]);
	}
	return 0;
}
module_init(race_init);

static void __exit race_exit(void)
{
	kthread_stop(race_threads[0]);
	kthread_stop(race_threads[1]);
}
module_exit(race_exit);

MODULE_DESCRIPTION("A data race that KCSAN is to report");
MODULE_LICENSE("Dual BSD/GPL");
