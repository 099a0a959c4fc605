// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "verbs.h"

#include <rdma/uverbs_ioctl.h>

#include "../transport/fault.h"

int skr_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct skerry_alloc_ucontext_resp resp = { .max_inline = SKR_MAX_INLINE };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

void skr_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	skr_fault_lane_put(skr_ucontext(ibuc)->lane);
}

/* For a process that imports the context: the core says all there is to say. */
int skr_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/*
 * The core destroys the context's objects; ring pages that a process has
 * mapped stay its own until it unmaps them.
 */
void skr_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}
