/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_RDMA_IB_UMEM_ODP_H
#define SKR_COMPAT_RDMA_IB_UMEM_ODP_H

#include <linux/hmm.h>

#include_next <rdma/ib_umem_odp.h>

/*
 * Where the pages that were looked up are, and how the access that is asked for is
 * said: by bits of a DMA address once, by those of a page now.
 */
#ifdef SKR_HAVE_ODP_DMA_MAP
#define SKR_ODP_ACCESS_READ	0
#define SKR_ODP_ACCESS_WRITE	HMM_PFN_WRITE

static inline const unsigned long *skr_odp_pfns(const struct ib_umem_odp *umem)
{
	return umem->map.pfn_list;
}
#else
#define SKR_ODP_ACCESS_READ	ODP_READ_ALLOWED_BIT
#define SKR_ODP_ACCESS_WRITE	(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT)

static inline const unsigned long *skr_odp_pfns(const struct ib_umem_odp *umem)
{
	return umem->pfn_list;
}
#endif

#endif /* SKR_COMPAT_RDMA_IB_UMEM_ODP_H */
