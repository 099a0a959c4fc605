// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Device memory: pages that a process and its peers share with nobody else. It is the
 * kernel's, where a device has its own; the process maps it.
 */
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "../ring/shm.h"
#include "verbs.h"

#define UVERBS_MODULE_NAME skerry
#include <rdma/uverbs_named_ioctl.h>

static int skr_dm_tell(const struct skr_dm *dm, u64 length, struct uverbs_attr_bundle *attrs,
		       u16 attr_id)
{
	struct skerry_dm_info info = {
		.mmap_offset = rdma_user_mmap_get_offset(&dm->shm->entry),
		.mmap_bytes = dm->shm->bytes,
		.length = length,
	};

	return uverbs_copy_to(attrs, attr_id, &info, sizeof(info));
}

static int UVERBS_HANDLER(SKERRY_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, SKERRY_ATTR_QUERY_DM_HANDLE);

	return skr_dm_tell(skr_dm(ibdm), ibdm->length, attrs, SKERRY_ATTR_QUERY_DM_INFO);
}

static int skr_dm_charge(struct skr_dev *dev, int pages)
{
	if (atomic_add_return(pages, &dev->dm_pages) <= SKR_MAX_DM_BYTES >> PAGE_SHIFT)
		return 0;
	atomic_sub(pages, &dev->dm_pages);
	return -ENOMEM;
}

static void skr_dm_free(struct skr_dev *dev, struct skr_dm *dm)
{
	atomic_sub(dm->shm->bytes >> PAGE_SHIFT, &dev->dm_pages);
	skr_shm_destroy(dm->shm);
	kfree(dm);
}

struct ib_dm *skr_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			   struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct skr_dev *dev = skr_dev(ibdev);
	struct skr_dm *dm;
	int pages;
	int err;

	/* alignment is a power of two; there is none beyond a page's */
	if (!attr->length || attr->length > SKR_MAX_DM_BYTES || attr->alignment > PAGE_SHIFT)
		return ERR_PTR(-EINVAL);
	pages = DIV_ROUND_UP(attr->length, PAGE_SIZE);
	err = skr_dm_charge(dev, pages);
	if (err)
		return ERR_PTR(err);
	dm = kzalloc_obj(*dm, GFP_KERNEL_ACCOUNT);
	if (!dm) {
		err = -ENOMEM;
		goto err_uncharge;
	}
	dm->shm = skr_shm_create_pages(ibuc, pages);
	if (IS_ERR(dm->shm)) {
		err = PTR_ERR(dm->shm);
		goto err_free_dm;
	}
	err = skr_dm_tell(dm, attr->length, attrs, SKERRY_ATTR_ALLOC_DM_INFO);
	if (err) {
		skr_dm_free(dev, dm);
		return ERR_PTR(err);
	}
	return &dm->ibdm;

err_free_dm:
	kfree(dm);
err_uncharge:
	atomic_sub(pages, &dev->dm_pages);
	return ERR_PTR(err);
}

int skr_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	skr_dm_free(skr_dev(ibdm->device), skr_dm(ibdm));
	return 0;
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(skr_dm_alloc, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(SKERRY_ATTR_ALLOC_DM_INFO,
						 UVERBS_ATTR_TYPE(struct skerry_dm_info),
						 UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(SKERRY_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(SKERRY_ATTR_QUERY_DM_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(SKERRY_ATTR_QUERY_DM_INFO,
						UVERBS_ATTR_TYPE(struct skerry_dm_info),
						UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DM, &UVERBS_METHOD(SKERRY_METHOD_DM_QUERY));

const struct uapi_definition skr_driver_def[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &skr_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DM),
	{},
};
