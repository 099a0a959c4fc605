// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Kernel-verbs benchmark. Loading it runs one measurement and prints one line;
 * it never stays loaded, so that the next measurement can be loaded at once.
 *
 *	insmod kvbench.ko a=sk0 b=sk1 op=write bytes=65536 mtu=4096 depth=16 ms=1000
 *
 * The two devices, of whichever driver, are in one kernel and reach each other.
 * Completions are taken in softirq, and each posts the next message, so that what
 * is measured is the driver and the network below it.
 *
 * On a machine that does other things as well, rates say little. Then the CPU time
 * that a user-mode kernel takes for one measurement is the better number: total= is
 * how many messages it took, with those of warming up.
 *
 * Next to the rate stands what a CRC-32 over the same packets costs, in the same
 * units, so that the ICRC's share, which is twice that, can be taken off. As many bytes as
 * an ICRC covers in front of the payload of most packets are part of it.
 */
#include "kvbench.h"

#include <linux/crc32.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

static char *a = "sk0";
module_param(a, charp, 0444);
MODULE_PARM_DESC(a, "device that posts");
static char *b = "sk1";
module_param(b, charp, 0444);
MODULE_PARM_DESC(b, "its peer");
static char *op = "write";
module_param(op, charp, 0444);
MODULE_PARM_DESC(op, "write, send or read; crc: only the CRC, for as long, and a copy");
static unsigned int bytes = 65536;
module_param(bytes, uint, 0444);
MODULE_PARM_DESC(bytes, "bytes of a message, up to 4 MiB");
static unsigned int mtu = 4096;
module_param(mtu, uint, 0444);
MODULE_PARM_DESC(mtu, "path MTU");
static unsigned int depth = 16;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "messages under way per QP");
static unsigned int qps = 1;
module_param(qps, uint, 0444);
MODULE_PARM_DESC(qps, "QPs");
static unsigned int ms = 1000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "milliseconds to measure, after a tenth of that to warm up");

/* serializes a run with devices that go away */
static DEFINE_MUTEX(kvb_lock);
static struct kvb_side kvb_sides[2];

static int kvb_add(struct ib_device *dev)
{
	mutex_lock(&kvb_lock);
	if (!strcmp(dev_name(&dev->dev), a))
		kvb_sides[0].dev = dev;
	else if (!strcmp(dev_name(&dev->dev), b))
		kvb_sides[1].dev = dev;
	mutex_unlock(&kvb_lock);
	return 0;
}

static void kvb_remove(struct ib_device *dev, void *data)
{
	int i;

	mutex_lock(&kvb_lock);
	for (i = 0; i < ARRAY_SIZE(kvb_sides); i++)
		if (kvb_sides[i].dev == dev)
			kvb_sides[i].dev = NULL;
	mutex_unlock(&kvb_lock);
}

static struct ib_client kvb_client = {
	.name = "kvbench",
	.add = kvb_add,
	.remove = kvb_remove,
};

static int kvb_get_params(struct kvb_params *p)
{
	if (!strcmp(op, "write"))
		p->opcode = IB_WR_RDMA_WRITE;
	else if (!strcmp(op, "send"))
		p->opcode = IB_WR_SEND;
	else if (!strcmp(op, "read"))
		p->opcode = IB_WR_RDMA_READ;
	else if (strcmp(op, "crc"))
		return -EINVAL;
	if (!bytes || bytes > SZ_4M || !depth || depth > 4096 || !qps || qps > 1024 || !ms ||
	    ib_mtu_int_to_enum(mtu) != ib_mtu_int_to_enum(mtu + 1) ||
	    ib_mtu_enum_to_int(ib_mtu_int_to_enum(mtu)) != mtu)
		return -EINVAL;
	p->bytes = bytes;
	p->depth = depth;
	p->mtu = mtu;
	p->qps = qps;
	return 0;
}

/* The result must be looked at, or nothing is computed. */
static u32 kvb_sink;

/* Eight bytes of ones, IPv4 and UDP headers, BTH */
#define KVB_CRC_HDR_BYTES	48

/* One pass over packets of the path MTU, for @limit_ns. Return: bytes. */
static u64 kvb_crc(const void *buf, const struct kvb_params *p, u64 limit_ns, u64 *ns)
{
	const u8 hdr[KVB_CRC_HDR_BYTES] = {};
	u32 piece = min(p->bytes, p->mtu);
	ktime_t start = ktime_get();
	u64 total = 0;
	u32 crc = ~0;
	u32 at;

	do {
		for (at = 0; at + piece <= p->bytes; at += piece) {
			crc = crc32_le(crc, hdr, sizeof(hdr));
			crc = crc32_le(crc, buf + at, piece);
		}
		total += at;
		*ns = ktime_to_ns(ktime_sub(ktime_get(), start));
		cond_resched();
	} while (*ns < limit_ns);
	WRITE_ONCE(kvb_sink, crc);
	return total;
}

static u64 kvb_count(const struct kvb_end *ends, int *error)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < qps; i++) {
		sum += READ_ONCE(ends[2 * i].done);
		*error = *error ?: ends[2 * i].error ?: ends[2 * i + 1].error;
	}
	return sum;
}

static void kvb_report(const struct kvb_params *p, u64 messages, u64 ns, u64 total)
{
	u64 crc_ns, crc_bytes, crc;

	crc_bytes = kvb_crc(kvb_sides[0].buf, p, 5 * NSEC_PER_MSEC, &crc_ns);
	crc = div64_u64(crc_ns * 1000, crc_bytes);
	pr_info("kvbench: dev=%s op=%s bytes=%u mtu=%u depth=%u qps=%u MB/s=%llu msg/s=%llu ns/msg=%llu crc_ps/B=%llu crc_ns/msg=%llu total=%llu\n",
		a, op, p->bytes, p->mtu, p->depth, p->qps,
		div64_u64(messages * p->bytes * 1000, ns),
		div64_u64(messages * NSEC_PER_SEC, ns), div64_u64(ns, messages ?: 1), crc,
		div64_u64(crc * p->bytes, 1000), total);
}

static void kvb_drain(struct kvb_end *ends)
{
	u32 i;

	for (i = 0; i < qps; i++) {
		struct kvb_end *end = &ends[2 * i];

		WRITE_ONCE(end->stop, true);
		/* pairs with atomic_dec_and_test() where a message lands */
		smp_mb();
		if (atomic_read(&end->flying) &&
		    !wait_for_completion_timeout(&end->drained, 5 * HZ))
			pr_err("kvbench: QP %u: %d messages never completed\n", i,
			       atomic_read(&end->flying));
	}
}

static int kvb_measure(const struct kvb_params *p, struct kvb_end *ends)
{
	u64 before, messages;
	int error = 0;
	ktime_t start;
	u32 i;
	u64 ns;

	for (i = 0; i < qps && !error; i++)
		error = kvb_end_start(&ends[2 * i]);
	msleep(max(ms / 10, 20U));
	before = kvb_count(ends, &error);
	start = ktime_get();
	msleep(ms);
	messages = kvb_count(ends, &error) - before;
	ns = ktime_to_ns(ktime_sub(ktime_get(), start));
	kvb_drain(ends);
	if (!error)
		kvb_report(p, messages, ns, kvb_count(ends, &error));
	return error;
}

static int kvb_open(const struct kvb_params *p, struct kvb_end *ends)
{
	int err;
	u32 i;

	err = kvb_side_open(&kvb_sides[0], p->bytes) ?: kvb_side_open(&kvb_sides[1], p->bytes);
	for (i = 0; i < 2 * qps && !err; i++) {
		ends[i].side = &kvb_sides[i % 2];
		ends[i].peer = &ends[i ^ 1];
		ends[i].params = p;
		err = kvb_end_open(&ends[i]);
	}
	for (i = 0; i < qps && !err; i++)
		err = kvb_connect(&ends[2 * i], &ends[2 * i + 1]) ?:
		      kvb_end_recv(&ends[2 * i + 1]);
	return err;
}

/* What the compiler knows the size of, it copies in its own way: so does a driver. */
static void kvb_copy_piece(void *to, const void *from, u32 bytes)
{
	if (bytes == 4096)
		memcpy(to, from, 4096);
	else if (bytes == 1024)
		memcpy(to, from, 1024);
	else
		memcpy(to, from, bytes);
}

/* Copying packets, for @limit_ns. Return: bytes. */
static u64 kvb_copy(void *to, const void *from, const struct kvb_params *p, u64 limit_ns, u64 *ns)
{
	u32 piece = min(p->bytes, p->mtu);
	ktime_t start = ktime_get();
	u64 total = 0;
	u32 at;

	do {
		for (at = 0; at + piece <= p->bytes; at += piece)
			kvb_copy_piece(to + at, from + at, piece);
		total += at;
		*ns = ktime_to_ns(ktime_sub(ktime_get(), start));
		cond_resched();
	} while (*ns < limit_ns);
	return total;
}

/* The CRC alone, over as many bytes as a measurement's time allows, and a copy. */
static int kvb_run_crc(const struct kvb_params *p)
{
	void *from = alloc_pages_exact(p->bytes, GFP_KERNEL | __GFP_ZERO);
	void *to = alloc_pages_exact(p->bytes, GFP_KERNEL | __GFP_ZERO);
	u64 total, ns, copied, copy_ns;

	if (from && to) {
		total = kvb_crc(from, p, (u64)ms * NSEC_PER_MSEC, &ns);
		copied = kvb_copy(to, from, p, 20 * NSEC_PER_MSEC, &copy_ns);
		pr_info("kvbench: op=crc bytes=%u mtu=%u crc_ps/B=%llu copy_ps/B=%llu total=%llu\n",
			p->bytes, p->mtu, div64_u64(ns * 1000, total),
			div64_u64(copy_ns * 1000, copied), div64_u64(total, p->bytes));
	}
	if (from)
		free_pages_exact(from, p->bytes);
	if (to)
		free_pages_exact(to, p->bytes);
	return from && to ? 0 : -ENOMEM;
}

static int kvb_run(const struct kvb_params *p)
{
	struct kvb_end *ends;
	int err;
	u32 i;

	if (!strcmp(op, "crc"))
		return kvb_run_crc(p);
	if (!kvb_sides[0].dev || !kvb_sides[1].dev)
		return -ENODEV;
	ends = kcalloc(2 * qps, sizeof(*ends), GFP_KERNEL);
	if (!ends)
		return -ENOMEM;
	err = kvb_open(p, ends) ?: kvb_measure(p, ends);
	for (i = 0; i < 2 * qps; i++)
		kvb_end_close(&ends[i]);
	for (i = 0; i < ARRAY_SIZE(kvb_sides); i++)
		kvb_side_close(&kvb_sides[i]);
	kfree(ends);
	return err;
}

static int __init kvb_init(void)
{
	struct kvb_params params = {};
	int err;

	err = kvb_get_params(&params);
	if (err)
		return err;
	err = ib_register_client(&kvb_client);
	if (err)
		return err;
	mutex_lock(&kvb_lock);
	err = kvb_run(&params);
	mutex_unlock(&kvb_lock);
	ib_unregister_client(&kvb_client);
	if (err)
		pr_err("kvbench: %s to %s: error %d\n", a, b, err);
	/* nothing to stay for */
	return err < 0 ? err : err ? -EIO : -EAGAIN;
}
module_init(kvb_init);

MODULE_DESCRIPTION("Kernel-verbs benchmark");
MODULE_LICENSE("Dual BSD/GPL");
