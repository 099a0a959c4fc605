/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What work requests do to regions and windows: register, bind, invalidate
 * (IBTA 10.6.5, 10.6.7; memory management extensions).
 */
#ifndef SKR_MEM_BIND_H
#define SKR_MEM_BIND_H

#include <rdma/skerry-abi.h>

#include "region.h"

/**
 * skr_reg() - put the memory that was mapped last behind a fast region's key
 * @who: who asks
 * @req: a REG_MR
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if it names no fast region of the domain, or one that is valid, or
 *	if it is longer than what was mapped; nothing has changed then.
 */
bool skr_reg(const struct skr_who *who, const struct skerry_send_wqe *req);

/**
 * skr_bind() - bind a window, or, with length 0, unbind one of type 1
 * @who: who asks
 * @req: a BIND_MW
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if a rule of IBTA 10.6.7.2 is broken; nothing has changed then.
 */
bool skr_bind(const struct skr_who *who, const struct skerry_send_wqe *req);

/**
 * skr_invalidate() - no access by this key from now on
 * @who: who asks, the peer or our side
 * @value: key of a fast region, or of a window of type 2 that is bound for the
 *	QP
 *
 * Context: BH, under dev->mr_srcu.
 * Return: false if it is not one of these.
 */
bool skr_invalidate(const struct skr_who *who, u32 value);

/**
 * skr_unbind() - a window goes away
 * @mw: window that cannot be found any more
 *
 * Context: process.
 */
void skr_unbind(struct skr_mw *mw);

#endif /* SKR_MEM_BIND_H */
