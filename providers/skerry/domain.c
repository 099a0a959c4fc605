// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Protection domains, and what libibverbs builds on them: thread domains, and
 * parent domains with allocators of the application's. The kernel knows the
 * protection domains only.
 */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "skerry.h"

struct ibv_pd *skerry_alloc_pd(struct ibv_context *ibctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd = {};
	struct skerry_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	if (ibv_cmd_alloc_pd(ibctx, &pd->ibv_pd, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(pd);
		return NULL;
	}

	return &pd->ibv_pd;
}

/* The handle is looked up by each verb that uses it, and by none before */
struct ibv_pd *skerry_import_pd(struct ibv_context *ibctx, uint32_t handle)
{
	struct skerry_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->ibv_pd.context = ibctx;
	pd->ibv_pd.handle = handle;
	return &pd->ibv_pd;
}

void skerry_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_spd(ibpd));
}

static int dealloc_parent_domain(struct skerry_pd *domain)
{
	atomic_fetch_sub(&domain->base->users, 1);
	if (domain->td)
		atomic_fetch_sub(&domain->td->users, 1);
	free(domain);
	return 0;
}

int skerry_dealloc_pd(struct ibv_pd *ibpd)
{
	struct skerry_pd *pd = to_spd(ibpd);
	int ret;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->base)
		return dealloc_parent_domain(pd);

	ret = ibv_cmd_dealloc_pd(ibpd);
	if (ret)
		return ret;

	free(pd);
	return 0;
}

struct ibv_td *skerry_alloc_td(struct ibv_context *ibctx,
			       struct ibv_td_init_attr *attr)
{
	struct skerry_td *td;

	if (attr->comp_mask) {
		errno = EINVAL;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;

	td->ibv_td.context = ibctx;
	return &td->ibv_td;
}

int skerry_dealloc_td(struct ibv_td *ibtd)
{
	struct skerry_td *td = container_of(ibtd, struct skerry_td, ibv_td);

	if (atomic_load(&td->users))
		return EBUSY;

	free(td);
	return 0;
}

struct ibv_pd *
skerry_alloc_parent_domain(struct ibv_context *ibctx,
			   struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	bool custom = attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	struct skerry_pd *domain;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	/* Of parent domains there is one generation */
	if (!check_comp_mask(attr->comp_mask, known) || to_spd(attr->pd)->base ||
	    (custom && (!attr->alloc || !attr->free))) {
		errno = EINVAL;
		return NULL;
	}

	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return NULL;

	domain->base = to_spd(attr->pd);
	atomic_fetch_add(&domain->base->users, 1);
	if (attr->td) {
		domain->td = container_of(attr->td, struct skerry_td, ibv_td);
		atomic_fetch_add(&domain->td->users, 1);
	}
	if (custom) {
		domain->alloc = attr->alloc;
		domain->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		domain->context = attr->pd_context;

	ibv_initialize_parent_domain(&domain->ibv_pd, attr->pd);
	return &domain->ibv_pd;
}

/*
 * Zeroed memory for an object made in @pd, which may be NULL. The rings are not
 * ours to allocate: they are the kernel's. Return NULL with errno set if there
 * is no memory.
 */
void *skerry_object_alloc(struct ibv_pd *pd, size_t size,
			  enum skerry_resource type, struct skerry_home *home)
{
	struct skerry_pd *domain = pd ? to_spd(pd) : NULL;
	void *object = IBV_ALLOCATOR_USE_DEFAULT;

	*home = (struct skerry_home) {};
	if (domain && domain->alloc)
		object = domain->alloc(pd, domain->context, size,
				       alignof(max_align_t), type);
	if (object == IBV_ALLOCATOR_USE_DEFAULT)
		object = malloc(size);
	else
		home->custom = true;
	if (!object) {
		errno = ENOMEM;
		return NULL;
	}

	memset(object, 0, size);
	if (domain && domain->base) {
		home->domain = domain;
		atomic_fetch_add(&domain->users, 1);
	}
	return object;
}

void skerry_object_free(void *object, enum skerry_resource type,
			struct skerry_home home)
{
	if (home.custom)
		home.domain->free(&home.domain->ibv_pd, home.domain->context,
				  object, type);
	else
		free(object);

	if (home.domain)
		atomic_fetch_sub(&home.domain->users, 1);
}

bool skerry_single_threaded(struct skerry_home home)
{
	return home.domain && home.domain->td;
}
