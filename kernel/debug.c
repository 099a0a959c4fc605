// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * debugfs: skerry/ has switches for tests and measurements; each is safe to change
 * at any time, under traffic too. skerry/DEVICE/cc_params/ has the parameters of
 * congestion control under the names that mlx5 made known; beside it are the
 * algorithm, the presets, what CNPs are paced by, the rate of each QP, and the poller:
 * when it looks for posts, for how long, and how many it has found. debugfs itself
 * keeps a file's users and its removal apart.
 */
#include "debug.h"

#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "transport/qp.h"
#include "transport/sched.h"

/* The longest word that can be written */
#define SKR_DEBUG_WORD	32

struct skr_tune skr_tune = {
	.super_tx = true,
	.super_rx = true,
	.batch = true,
	.merge_acks = true,
	.zero_copy = true,
	.rx_aside = true,
};

static struct dentry *skr_debugfs;

/* One word from user space, without white space around it. */
static char *skr_debug_word(char buf[SKR_DEBUG_WORD], const char __user *from, size_t count)
{
	if (count >= SKR_DEBUG_WORD)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(buf, from, count))
		return ERR_PTR(-EFAULT);
	buf[count] = '\0';
	return strim(buf);
}

/* Which of these names user space writes: its number, or a negative errno. */
static int skr_debug_choice(const char *const names[], size_t n, const char __user *from,
			    size_t count)
{
	char buf[SKR_DEBUG_WORD];
	char *word = skr_debug_word(buf, from, count);

	return IS_ERR(word) ? PTR_ERR(word) : match_string(names, n, word);
}

/* Files are named after their parameters. */
static const struct skr_cc_param *skr_debug_param(const struct file *file)
{
	const char *name = (const char *)file->f_path.dentry->d_name.name;
	int i;

	for (i = 0; i < SKR_CC_PARAM_COUNT; i++)
		if (!strcmp(skr_cc_param_table[i].name, name))
			return &skr_cc_param_table[i];
	return NULL;
}

static int skr_debug_param_show(struct seq_file *seq, void *unused)
{
	const struct skr_cc_param *param = skr_debug_param(seq->file);
	struct skr_dev *dev = seq->private;
	char text[SKR_CC_PARAM_TEXT];

	skr_cc_param_format(param, skr_cc_param_get(&dev->cc.params, param), text);
	seq_printf(seq, "%s\n", text);
	return 0;
}

static ssize_t skr_debug_param_write(struct file *file, const char __user *from, size_t count,
				     loff_t *pos)
{
	const struct skr_cc_param *param = skr_debug_param(file);
	struct skr_dev *dev = file_inode(file)->i_private;
	char buf[SKR_DEBUG_WORD];
	char *word = skr_debug_word(buf, from, count);
	u32 value;
	int err;

	if (IS_ERR(word))
		return PTR_ERR(word);
	err = skr_cc_param_parse(param, word, &value);
	if (!err)
		err = skr_cc_param_set(&dev->cc.params, param, value);
	return err ?: count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(skr_debug_param);

static int skr_debug_algorithm_show(struct seq_file *seq, void *unused)
{
	struct skr_dev *dev = seq->private;

	seq_printf(seq, "%s\n", READ_ONCE(dev->cc.ops)->name);
	return 0;
}

static ssize_t skr_debug_algorithm_write(struct file *file, const char __user *from,
					 size_t count, loff_t *pos)
{
	struct skr_dev *dev = file_inode(file)->i_private;
	const struct skr_cc_ops *ops;
	char buf[SKR_DEBUG_WORD];
	char *word = skr_debug_word(buf, from, count);

	if (IS_ERR(word))
		return PTR_ERR(word);
	ops = skr_cc_find(word);
	if (!ops)
		return -EINVAL;
	WRITE_ONCE(dev->cc.ops, ops);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(skr_debug_algorithm);

/* The names that can be written */
static int skr_debug_preset_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < SKR_CC_PRESETS; i++)
		seq_printf(seq, "%s\n", skr_cc_preset_names[i]);
	return 0;
}

static ssize_t skr_debug_preset_write(struct file *file, const char __user *from, size_t count,
				      loff_t *pos)
{
	struct skr_dev *dev = file_inode(file)->i_private;
	int preset = skr_debug_choice(skr_cc_preset_names, SKR_CC_PRESETS, from, count);

	if (preset < 0)
		return preset;
	skr_cc_params_preset(&dev->cc.params, preset, READ_ONCE(dev->cc.mbps));
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(skr_debug_preset);

static const char *const skr_debug_pacings[] = {
	[SKR_CNP_PER_QP] = "qp",
	[SKR_CNP_PER_DEST] = "dest",
	[SKR_CNP_PER_PORT] = "port",
};

static int skr_debug_pacing_show(struct seq_file *seq, void *unused)
{
	struct skr_dev *dev = seq->private;

	seq_printf(seq, "%s\n", skr_debug_pacings[READ_ONCE(dev->cc.cnp_pacing)]);
	return 0;
}

static ssize_t skr_debug_pacing_write(struct file *file, const char __user *from, size_t count,
				      loff_t *pos)
{
	struct skr_dev *dev = file_inode(file)->i_private;
	int pacing = skr_debug_choice(skr_debug_pacings, ARRAY_SIZE(skr_debug_pacings), from,
				      count);

	if (pacing < 0)
		return pacing;
	WRITE_ONCE(dev->cc.cnp_pacing, pacing);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(skr_debug_pacing);

static const char *const skr_debug_polls[] = {
	[SKR_POLL_OFF] = "off",
	[SKR_POLL_AUTO] = "auto",
	[SKR_POLL_ALWAYS] = "always",
};

static int skr_debug_poll_show(struct seq_file *seq, void *unused)
{
	struct skr_dev *dev = seq->private;

	seq_printf(seq, "%s\n", skr_debug_polls[READ_ONCE(dev->poll.mode)]);
	return 0;
}

static ssize_t skr_debug_poll_write(struct file *file, const char __user *from, size_t count,
				    loff_t *pos)
{
	struct skr_dev *dev = file_inode(file)->i_private;
	int mode = skr_debug_choice(skr_debug_polls, ARRAY_SIZE(skr_debug_polls), from, count);

	if (mode < 0)
		return mode;
	WRITE_ONCE(dev->poll.mode, mode);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(skr_debug_poll);

static int skr_debug_poll_usecs_get(void *data, u64 *usecs)
{
	struct skr_dev *dev = data;

	*usecs = READ_ONCE(dev->poll.usecs);
	return 0;
}

static int skr_debug_poll_usecs_set(void *data, u64 usecs)
{
	struct skr_dev *dev = data;

	if (!usecs || usecs > SKR_POLL_USECS_MAX)
		return -EINVAL;
	WRITE_ONCE(dev->poll.usecs, usecs);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(skr_debug_poll_usecs, skr_debug_poll_usecs_get,
			 skr_debug_poll_usecs_set, "%llu\n");

static void skr_debug_flow(struct skr_qp *qp, void *arg)
{
	const struct skr_cc_ops *ops;
	struct skr_cc_view view = {};
	struct seq_file *seq = arg;

	spin_lock_bh(&qp->lock);
	ops = qp->flow.cc.ops;
	if (ops)
		skr_cc_show(&qp->flow.cc, ktime_get_ns(), &view);
	skr_qp_unlock(qp);
	if (ops)
		seq_printf(seq, "%#x %llu %llu %u %s %s %s\n", qp->qpn, view.rate, view.target,
			   view.alpha, view.stage, ops->name, skr_flow_wish_name(qp));
}

/* A line for each QP that has an address, or sends datagrams */
static int skr_debug_flows_show(struct seq_file *seq, void *unused)
{
	seq_puts(seq, "# qpn rate(B/s) target(B/s) alpha(1/1024) stage cc wish\n");
	skr_qp_for_each(seq->private, skr_debug_flow, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(skr_debug_flows);

/*
 * A directory of the name that the device has now. Another device may have the same in
 * its namespace, or one of our switches: then the namespace is told, too.
 */
static struct dentry *skr_debug_mkdir(struct skr_dev *dev)
{
	const char *name = dev_name(&dev->ibdev.dev);
	struct dentry *taken = debugfs_lookup(name, skr_debugfs);
	char longer[IB_DEVICE_NAME_MAX + sizeof("@4294967295")];

	if (!taken)
		return debugfs_create_dir(name, skr_debugfs);
	dput(taken);
	snprintf(longer, sizeof(longer), "%s@%u", name, dev_net(dev->ndev)->ns.inum);
	return debugfs_create_dir(longer, skr_debugfs);
}

static struct dentry *skr_debug_dir(struct skr_dev *dev)
{
	struct dentry *dir, *params;
	int i;

	dir = skr_debug_mkdir(dev);
	params = debugfs_create_dir("cc_params", dir);
	for (i = 0; i < SKR_CC_PARAM_COUNT; i++)
		debugfs_create_file(skr_cc_param_table[i].name, 0644, params, dev,
				    &skr_debug_param_fops);
	debugfs_create_file("cc", 0644, dir, dev, &skr_debug_algorithm_fops);
	debugfs_create_file("cc_preset", 0644, dir, dev, &skr_debug_preset_fops);
	debugfs_create_file("cnp_pacing", 0644, dir, dev, &skr_debug_pacing_fops);
	debugfs_create_file("cc_flows", 0444, dir, dev, &skr_debug_flows_fops);
	debugfs_create_file("sq_poll", 0644, dir, dev, &skr_debug_poll_fops);
	debugfs_create_file("sq_poll_usecs", 0644, dir, dev, &skr_debug_poll_usecs);
	debugfs_create_u32("sq_poll_hits", 0444, dir, &dev->poll.hits);
	return dir;
}

/*
 * The directory follows the device as the core's clients do: it is there while the
 * device has its name, is made anew when the device moves to another namespace, and
 * is gone before another device there can have the name.
 */
static struct ib_client skr_debug_client;

static int skr_debug_add(struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id != SKERRY_DRIVER_ID)
		return -EOPNOTSUPP;
	ib_set_client_data(ibdev, &skr_debug_client, skr_debug_dir(skr_dev(ibdev)));
	return 0;
}

static void skr_debug_remove(struct ib_device *ibdev, void *dir)
{
	debugfs_remove(dir);
}

static void skr_debug_rename(struct ib_device *ibdev, void *dir)
{
	skr_debug_remove(ibdev, dir);
	skr_debug_add(ibdev);
}

static struct ib_client skr_debug_client = {
	.name = "skerry_debug",
	.add = skr_debug_add,
	.remove = skr_debug_remove,
	.rename = skr_debug_rename,
};

int skr_debug_init(void)
{
	int err;

	skr_debugfs = debugfs_create_dir("skerry", NULL);
	debugfs_create_bool("super_tx", 0644, skr_debugfs, &skr_tune.super_tx);
	debugfs_create_bool("super_rx", 0644, skr_debugfs, &skr_tune.super_rx);
	debugfs_create_bool("batch", 0644, skr_debugfs, &skr_tune.batch);
	debugfs_create_bool("merge_acks", 0644, skr_debugfs, &skr_tune.merge_acks);
	debugfs_create_bool("zero_copy", 0644, skr_debugfs, &skr_tune.zero_copy);
	debugfs_create_bool("rx_aside", 0644, skr_debugfs, &skr_tune.rx_aside);
	err = ib_register_client(&skr_debug_client);
	if (err)
		debugfs_remove(skr_debugfs);
	return err;
}

void skr_debug_exit(void)
{
	ib_unregister_client(&skr_debug_client);
	debugfs_remove(skr_debugfs);
}
