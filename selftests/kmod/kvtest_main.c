// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Kernel-verbs tests. Loading the module runs them; what came out is TAP, in
 * debugfs, until the module is unloaded.
 *
 *	insmod kvtest.ko a=sk0 b=sk1
 *	cat /sys/kernel/debug/kvtest/tap
 *
 * The two devices are in one kernel and reach each other; they may be one.
 */
#include "kvtest.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define KVT_TEXT	SZ_64K

static char *a = "sk0";
module_param(a, charp, 0444);
MODULE_PARM_DESC(a, "device that sends");
static char *b = "sk1";
module_param(b, charp, 0444);
MODULE_PARM_DESC(b, "device whose memory is registered");
unsigned int kvt_slow = 1;
module_param_named(slow, kvt_slow, uint, 0444);
MODULE_PARM_DESC(slow, "how many times longer than elsewhere things may take here");

/* serializes a run with devices that go away */
static DEFINE_MUTEX(kvt_lock);
static struct kvt kvt_run;
static struct dentry *kvt_dir;
static struct debugfs_blob_wrapper kvt_text;

static int kvt_add(struct ib_device *dev)
{
	mutex_lock(&kvt_lock);
	if (!strcmp(dev_name(&dev->dev), a))
		kvt_run.a.dev = dev;
	if (!strcmp(dev_name(&dev->dev), b))
		kvt_run.b.dev = dev;
	mutex_unlock(&kvt_lock);
	return 0;
}

static void kvt_remove(struct ib_device *dev, void *data)
{
	mutex_lock(&kvt_lock);
	if (kvt_run.a.dev == dev)
		kvt_run.a.dev = NULL;
	if (kvt_run.b.dev == dev)
		kvt_run.b.dev = NULL;
	mutex_unlock(&kvt_lock);
}

static struct ib_client kvt_client = {
	.name = "kvtest",
	.add = kvt_add,
	.remove = kvt_remove,
};

static const struct kvt_test *const kvt_tests[] = {
	kvt_frmr_tests, kvt_key_tests, kvt_context_tests,
};

bool kvt_true(struct kvt *t, bool holds, const char *what)
{
	if (holds)
		return true;
	seq_buf_printf(&t->out, "# not so: %s\n", what);
	t->bad = true;
	return false;
}

bool kvt_is(struct kvt *t, s64 is, s64 expected, const char *what)
{
	if (is == expected)
		return true;
	seq_buf_printf(&t->out, "# %s: %lld, not %lld\n", what, is, expected);
	t->bad = true;
	return false;
}

static void kvt_run_one(struct kvt *t, const struct kvt_test *test, int number)
{
	t->bad = false;
	if (kvt_is(t, kvt_connect(t), 0, "connecting"))
		test->run(t);
	kvt_disconnect(t);
	seq_buf_printf(&t->out, "%sok %d - %s\n", t->bad ? "not " : "", number, test->name);
}

static void kvt_run_all(struct kvt *t)
{
	const struct kvt_test *test;
	int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(kvt_tests); i++)
		for (test = kvt_tests[i]; test->name; test++)
			n++;
	seq_buf_printf(&t->out, "1..%d\n", n);
	n = 0;
	for (i = 0; i < ARRAY_SIZE(kvt_tests); i++)
		for (test = kvt_tests[i]; test->name; test++)
			kvt_run_one(t, test, ++n);
}

static int kvt_run_devices(struct kvt *t)
{
	int err;

	if (!t->a.dev || !t->b.dev)
		return -ENODEV;
	err = kvt_end_open(&t->a) ?: kvt_end_open(&t->b);
	if (!err)
		kvt_run_all(t);
	kvt_end_close(&t->a);
	kvt_end_close(&t->b);
	return err;
}

static int __init kvt_init(void)
{
	int err;

	kvt_text.data = vzalloc(KVT_TEXT);
	if (!kvt_text.data)
		return -ENOMEM;
	seq_buf_init(&kvt_run.out, kvt_text.data, KVT_TEXT);
	err = ib_register_client(&kvt_client);
	if (err)
		goto err_free;
	mutex_lock(&kvt_lock);
	err = kvt_run_devices(&kvt_run);
	mutex_unlock(&kvt_lock);
	ib_unregister_client(&kvt_client);
	if (err)
		goto err_free;

	kvt_text.size = seq_buf_used(&kvt_run.out);
	kvt_dir = debugfs_create_dir("kvtest", NULL);
	debugfs_create_blob("tap", 0444, kvt_dir, &kvt_text);
	return 0;

err_free:
	vfree(kvt_text.data);
	return err;
}
module_init(kvt_init);

static void __exit kvt_exit(void)
{
	debugfs_remove(kvt_dir);
	vfree(kvt_text.data);
}
module_exit(kvt_exit);

MODULE_DESCRIPTION("Kernel-verbs tests");
MODULE_LICENSE("Dual BSD/GPL");
