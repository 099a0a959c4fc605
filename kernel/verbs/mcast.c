// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "../transport/mgroup.h"

#include "verbs.h"

/* The core has checked that @gid is a multicast GID and the QP a UD one. */
int skr_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return skr_group_attach(skr_qp(ibqp), (const struct in6_addr *)gid);
}

int skr_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return skr_group_detach(skr_qp(ibqp), (const struct in6_addr *)gid);
}
