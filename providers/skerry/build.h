/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Building entries of the send ring piece by piece, as the functions of
 * struct ibv_qp_ex do between wr_start and wr_complete.
 *
 * What an entry may hold is settled in wqe.h, for these and for
 * ibv_post_send() alike. Here stands what belongs to building: no step reports
 * an error; the first one is kept, makes the rest do nothing, and the end
 * takes everything back.
 *
 * Nothing here locks: the caller holds the lock of the queue from start to end.
 */
#ifndef SKERRY_BUILD_H
#define SKERRY_BUILD_H

#include "ring.h"
#include "wqe.h"

/**
 * struct skerry_build - requests that are being built
 * @start: ring->index when building began
 * @err: 0 or the first error
 * @wqe: the request that setters add to, NULL if there is none
 */
struct skerry_build {
	uint32_t		start;
	int			err;
	struct skerry_send_wqe	*wqe;
};

/* @err: why nothing can be built, or 0 */
static inline void skerry_build_start(struct skerry_build *build,
				      const struct skerry_ring *ring, int err)
{
	build->start = ring->index;
	build->err = err;
	build->wqe = NULL;
}

/* Keep the first error */
static inline void skerry_build_result(struct skerry_build *build, int err)
{
	if (!build->err)
		build->err = err;
}

/* No setter can add to the last request any more: is it complete? */
static inline void skerry_build_seal(struct skerry_build *build,
				     const struct skerry_wq_cap *cap)
{
	if (build->wqe && cap->qp_type == IBV_QPT_UD &&
	    !build->wqe->ud.ah_num)
		skerry_build_result(build, EINVAL);
	build->wqe = NULL;
}

/* The next request, for its arguments; NULL after an error */
static inline struct skerry_send_wqe *
skerry_build_next(struct skerry_build *build, struct skerry_ring *ring,
		  const struct skerry_wq_cap *cap, uint64_t wr_id,
		  enum ibv_wr_opcode opcode, unsigned int send_flags)
{
	struct skerry_send_wqe *wqe;

	skerry_build_seal(build, cap);
	if (build->err)
		return NULL;
	if (skerry_ring_full(ring, cap->max_wr)) {
		build->err = ENOMEM;
		return NULL;
	}

	wqe = (struct skerry_send_wqe *)skerry_ring_entry(ring, ring->index);
	build->err = skerry_put_operation(wqe, cap, wr_id, opcode, send_flags);
	if (build->err)
		return NULL;

	ring->index++;
	build->wqe = wqe;
	return wqe;
}

/* The request that a setter adds to; NULL after an error */
static inline struct skerry_send_wqe *
skerry_build_current(struct skerry_build *build)
{
	if (!build->wqe)
		skerry_build_result(build, EINVAL);
	return build->err ? NULL : build->wqe;
}

static inline void skerry_build_sges(struct skerry_build *build,
				     const struct skerry_wq_cap *cap,
				     const struct ibv_sge *sg_list,
				     size_t num_sge)
{
	struct skerry_send_wqe *wqe = skerry_build_current(build);

	if (wqe)
		build->err = skerry_put_sges(wqe, cap, sg_list, num_sge);
}

/* The number of pieces does not matter: they become one */
static inline void skerry_build_inline(struct skerry_build *build,
				       const struct skerry_wq_cap *cap,
				       const struct ibv_data_buf *buf_list,
				       size_t num_buf)
{
	struct skerry_send_wqe *wqe = skerry_build_current(build);

	if (!wqe)
		return;

	build->err = skerry_start_inline(wqe);
	for (size_t i = 0; !build->err && i < num_buf; i++)
		build->err = skerry_put_inline(wqe, cap, buf_list[i].addr,
					       buf_list[i].length);
}

static inline void skerry_build_abort(struct skerry_build *build,
				      struct skerry_ring *ring)
{
	build->wqe = NULL;
	ring->index = build->start;
}

/* Return 0, and the requests may be published, or errno and there are none */
static inline int skerry_build_end(struct skerry_build *build,
				   struct skerry_ring *ring,
				   const struct skerry_wq_cap *cap)
{
	skerry_build_seal(build, cap);
	if (build->err)
		skerry_build_abort(build, ring);
	return build->err;
}

#endif /* SKERRY_BUILD_H */
