// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * skerry: RoCE for any Ethernet port.
 */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "debug.h"
#include "link.h"
#include "net/netns.h"
#include "net/pages.h"
#include "net/prio.h"
#include "transport/qp.h"
#include "transport/sched.h"

static int __init skr_init(void)
{
	int err;

	err = skr_sched_init();
	if (err)
		return err;
	err = skr_fault_create();
	if (err)
		goto err_sched;
	err = skr_poll_create();
	if (err)
		goto err_fault;
	skr_qp_table_init();
	err = skr_debug_init();
	if (err)
		goto err_table;
	err = skr_prio_init();
	if (err)
		goto err_debug;
	err = skr_netns_init();
	if (err)
		goto err_prio;
	err = skr_link_init();
	if (err)
		goto err_netns;
	return 0;

err_netns:
	skr_netns_exit();
err_prio:
	skr_prio_exit();
err_debug:
	skr_debug_exit();
err_table:
	skr_qp_table_exit();
	skr_poll_destroy();
err_fault:
	skr_fault_destroy();
err_sched:
	skr_sched_exit();
	return err;
}

static void __exit skr_exit(void)
{
	skr_link_exit();
	skr_netns_exit();
	skr_prio_exit();
	skr_qp_table_exit();
	skr_pages_exit();
	skr_debug_exit();
	skr_poll_destroy();
	skr_fault_destroy();
	skr_sched_exit();
}

module_init(skr_init);
module_exit(skr_exit);

MODULE_DESCRIPTION("RoCE for any Ethernet port");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("skerry");
