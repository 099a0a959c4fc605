// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Mapping the rings. The functions return 0 or errno.
 */
#include <errno.h>
#include <sys/mman.h>

#include "skerry.h"

static int check_info(struct ibv_context *ibctx,
		      const struct skerry_ring_info *info, size_t min_entry)
{
	if (skerry_ring_info_ok(info, min_entry))
		return 0;

	verbs_err(verbs_get_ctx(ibctx),
		  "ring of %u bytes with %u entries of %u makes no sense\n",
		  info->mmap_bytes, info->depth, info->entry_bytes);
	return EINVAL;
}

/* A ring that the kernel did not make is left out */
int skerry_map_ring(struct ibv_context *ibctx, struct skerry_ring *ring,
		    const struct skerry_ring_info *info, size_t min_entry)
{
	void *map;
	int ret;

	if (!info->mmap_bytes)
		return 0;

	ret = check_info(ibctx, info, min_entry);
	if (ret)
		return ret;

	map = mmap(NULL, info->mmap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   ibctx->cmd_fd, info->mmap_offset);
	if (map == MAP_FAILED) {
		ret = errno;
		verbs_err(verbs_get_ctx(ibctx), "cannot map a ring: %d\n", ret);
		return ret;
	}

	skerry_ring_init(ring, map, info);
	return 0;
}

void skerry_unmap_ring(struct skerry_ring *ring)
{
	if (ring->hdr)
		munmap(ring->hdr, ring->map_bytes);
}
