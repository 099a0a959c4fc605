/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_RDMA_IB_UMEM_H
#define SKR_COMPAT_RDMA_IB_UMEM_H

#include_next <rdma/ib_umem.h>

#ifndef SKR_HAVE_UMEM_GET_VA
#define ib_umem_get_va	ib_umem_get
#endif

#endif /* SKR_COMPAT_RDMA_IB_UMEM_H */
