/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Buffers of other devices: dma-buf.
 *
 * The CPU is what accesses them, so no device is attached and nothing is mapped for
 * DMA: the exporter maps the buffer for the kernel, and keeps it in place as long as
 * it is. To the exporter that is one access of the CPU's, from registration to
 * deregistration. Buffers that it cannot map, or that are not memory, are refused.
 */
#ifndef SKR_MEM_DMABUF_H
#define SKR_MEM_DMABUF_H

#include <linux/dma-direction.h>
#include <linux/iosys-map.h>
#include <linux/types.h>

struct dma_buf;

/**
 * struct skr_dmabuf - a buffer in use
 * @buf: the buffer, held
 * @map: where it is mapped
 * @dir: what the exporter was told that the CPU does
 */
struct skr_dmabuf {
	struct dma_buf		*buf;
	struct iosys_map	map;
	enum dma_data_direction	dir;
};

#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)

/**
 * skr_dmabuf_get() - use a buffer
 * @fd: the buffer
 * @offset: of the first byte that will be used
 * @length: bytes
 * @write: they may be written
 *
 * Context: process.
 * Return: the buffer, or an ERR_PTR as skr_memory_attach().
 */
struct skr_dmabuf *skr_dmabuf_get(int fd, u64 offset, u64 length, bool write);

/**
 * skr_dmabuf_put() - let a buffer go
 * @dmabuf: from skr_dmabuf_get()
 *
 * Context: process.
 */
void skr_dmabuf_put(struct skr_dmabuf *dmabuf);

#else

static inline struct skr_dmabuf *skr_dmabuf_get(int fd, u64 offset, u64 length, bool write)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void skr_dmabuf_put(struct skr_dmabuf *dmabuf)
{
}

#endif

/**
 * skr_dmabuf_vaddr() - where a buffer is
 * @dmabuf: from skr_dmabuf_get()
 *
 * Return: kernel address of its first byte.
 */
static inline void *skr_dmabuf_vaddr(const struct skr_dmabuf *dmabuf)
{
	return dmabuf->map.vaddr;
}

#endif /* SKR_MEM_DMABUF_H */
