// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Switches for tests and measurements, under skerry/ in debugfs. Each is safe to
 * change at any time, under traffic too.
 */
#include "debug.h"

#include <linux/debugfs.h>

#include "device.h"

struct skr_tune skr_tune = {
	.super_tx = true,
	.super_rx = true,
	.batch = true,
	.merge_acks = true,
};

static struct dentry *skr_debugfs;

void skr_debug_init(void)
{
	skr_debugfs = debugfs_create_dir("skerry", NULL);
	debugfs_create_bool("super_tx", 0644, skr_debugfs, &skr_tune.super_tx);
	debugfs_create_bool("super_rx", 0644, skr_debugfs, &skr_tune.super_rx);
	debugfs_create_bool("batch", 0644, skr_debugfs, &skr_tune.batch);
	debugfs_create_bool("merge_acks", 0644, skr_debugfs, &skr_tune.merge_acks);
}

void skr_debug_exit(void)
{
	debugfs_remove(skr_debugfs);
}
