// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../mem/bind.h"

#include "verbs.h"

int skr_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct skr_mw *mw = skr_mw(ibmw);
	int err;

	mw->key.kind = ibmw->type == IB_MW_TYPE_1 ? SKR_MW_1 : SKR_MW_2;
	mw->key.pd = ibmw->pd;
	err = skr_key_add(skr_dev(ibmw->device), &mw->key);
	if (err)
		return err;
	ibmw->rkey = mw->key.key;
	return 0;
}

int skr_dealloc_mw(struct ib_mw *ibmw)
{
	struct skr_mw *mw = skr_mw(ibmw);

	skr_key_remove(skr_dev(ibmw->device), &mw->key);
	skr_unbind(mw);
	return 0;
}
