// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * XRC domains. The core shares them between processes, by the file that they are
 * opened with, and has the list of their target QPs; here one is an identity that
 * QPs and SRQs have in common (skr_srq_find()).
 */
#include "verbs.h"

int skr_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return skr_object_get(skr_dev(ibxrcd->device), SKR_OBJ_XRCD, SKR_MAX_XRCD);
}

int skr_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	skr_object_put(skr_dev(ibxrcd->device), SKR_OBJ_XRCD);
	return 0;
}
