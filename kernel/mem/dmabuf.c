// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "dmabuf.h"

#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/slab.h>

static int skr_dmabuf_check(const struct dma_buf *buf, u64 offset, u64 length, bool write)
{
	if (offset > buf->size || length > buf->size - offset)
		return -EINVAL;
	if (write && !(buf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	return buf->ops->vmap ? 0 : -EOPNOTSUPP;
}

static int skr_dmabuf_map(struct skr_dmabuf *dmabuf)
{
	int err;

	err = dma_buf_vmap_unlocked(dmabuf->buf, &dmabuf->map);
	if (err)
		return err;
	if (!dmabuf->map.is_iomem)
		return 0;
	dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	return -EOPNOTSUPP;
}

/*
 * Who accesses a region is a softirq, which cannot wait for the exporter. So for the
 * exporter the CPU's access lasts as long as the region does.
 */
static int skr_dmabuf_begin(struct skr_dmabuf *dmabuf, bool write)
{
	int err;

	dmabuf->dir = write ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
	err = dma_buf_begin_cpu_access(dmabuf->buf, dmabuf->dir);
	if (err)
		return err;
	err = skr_dmabuf_map(dmabuf);
	if (err)
		dma_buf_end_cpu_access(dmabuf->buf, dmabuf->dir);
	return err;
}

struct skr_dmabuf *skr_dmabuf_get(int fd, u64 offset, u64 length, bool write)
{
	struct skr_dmabuf *dmabuf;
	int err;

	dmabuf = kzalloc_obj(*dmabuf, GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);
	dmabuf->buf = dma_buf_get(fd);
	if (IS_ERR(dmabuf->buf)) {
		err = PTR_ERR(dmabuf->buf);
		goto err_free;
	}
	err = skr_dmabuf_check(dmabuf->buf, offset, length, write);
	if (!err)
		err = skr_dmabuf_begin(dmabuf, write);
	if (err)
		goto err_put;
	return dmabuf;

err_put:
	dma_buf_put(dmabuf->buf);
err_free:
	kfree(dmabuf);
	return ERR_PTR(err);
}

void skr_dmabuf_put(struct skr_dmabuf *dmabuf)
{
	dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	/* nothing can be done about an exporter that could not write it back */
	dma_buf_end_cpu_access(dmabuf->buf, dmabuf->dir);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}

MODULE_INFO(import_ns, "DMA_BUF");
