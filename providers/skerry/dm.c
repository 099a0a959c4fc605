// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Device memory: the kernel's pages, mapped here for the copies that the
 * application asks for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "skerry.h"

/* What a device can be asked to copy: whole words */
#define SKERRY_DM_ALIGN	4

/**
 * struct skerry_dm - device memory
 * @vdm: the base
 * @map: the memory
 * @map_bytes: length of the mapping
 * @length: bytes that the application asked for
 */
struct skerry_dm {
	struct verbs_dm	vdm;
	void		*map;
	size_t		map_bytes;
	size_t		length;
};

static struct skerry_dm *to_sdm(struct ibv_dm *ibdm)
{
	return container_of(ibdm, struct skerry_dm, vdm.dm);
}

static bool copy_ok(const struct skerry_dm *dm, uint64_t offset, size_t length)
{
	if (offset % SKERRY_DM_ALIGN || length % SKERRY_DM_ALIGN)
		return false;
	return offset <= dm->length && length <= dm->length - offset;
}

static int memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset, const void *from,
			size_t length)
{
	struct skerry_dm *dm = to_sdm(ibdm);

	if (!copy_ok(dm, offset, length))
		return EINVAL;

	memcpy((uint8_t *)dm->map + offset, from, length);
	return 0;
}

static int memcpy_from_dm(void *to, struct ibv_dm *ibdm, uint64_t offset,
			  size_t length)
{
	struct skerry_dm *dm = to_sdm(ibdm);

	if (!copy_ok(dm, offset, length))
		return EINVAL;

	memcpy(to, (uint8_t *)dm->map + offset, length);
	return 0;
}

/* Return 0 or errno */
static int map_dm(struct ibv_context *ibctx, struct skerry_dm *dm,
		  const struct skerry_dm_info *info)
{
	dm->map = mmap(NULL, info->mmap_bytes, PROT_READ | PROT_WRITE,
		       MAP_SHARED, ibctx->cmd_fd, info->mmap_offset);
	if (dm->map == MAP_FAILED)
		return errno;

	dm->map_bytes = info->mmap_bytes;
	dm->length = info->length;
	dm->vdm.dm.memcpy_to_dm = memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = memcpy_from_dm;
	return 0;
}

static void unmap_dm(struct skerry_dm *dm)
{
	munmap(dm->map, dm->map_bytes);
	free(dm);
}

struct ibv_dm *skerry_alloc_dm(struct ibv_context *ibctx,
			       struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			       1);
	struct skerry_dm_info info;
	struct skerry_dm *dm;
	int ret;

	if (!check_comp_mask(attr->comp_mask, 0)) {
		errno = EINVAL;
		return NULL;
	}

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	fill_attr_out(cmd, SKERRY_ATTR_ALLOC_DM_INFO, &info, sizeof(info));
	ret = ibv_cmd_alloc_dm(ibctx, attr, &dm->vdm, cmd);
	if (ret)
		goto err_free;

	ret = map_dm(ibctx, dm, &info);
	if (ret)
		goto err_free_dm;

	return &dm->vdm.dm;

err_free_dm:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = ret;
	return NULL;
}

int skerry_free_dm(struct ibv_dm *ibdm)
{
	struct skerry_dm *dm = to_sdm(ibdm);
	int ret;

	ret = ibv_cmd_free_dm(&dm->vdm);
	if (ret)
		return ret;

	unmap_dm(dm);
	return 0;
}

/* Another name for memory that stays its owner's */
struct ibv_dm *skerry_import_dm(struct ibv_context *ibctx, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, SKERRY_METHOD_DM_QUERY,
			       2);
	struct skerry_dm_info info;
	struct skerry_dm *dm;
	int ret;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;

	fill_attr_in_obj(cmd, SKERRY_ATTR_QUERY_DM_HANDLE, handle);
	fill_attr_out(cmd, SKERRY_ATTR_QUERY_DM_INFO, &info, sizeof(info));
	ret = execute_ioctl(ibctx, cmd);
	if (!ret)
		ret = map_dm(ibctx, dm, &info);
	if (ret) {
		free(dm);
		errno = ret;
		return NULL;
	}

	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	dm->vdm.dm.comp_mask = IBV_DM_MASK_HANDLE;
	dm->vdm.dm.context = ibctx;
	return &dm->vdm.dm;
}

void skerry_unimport_dm(struct ibv_dm *ibdm)
{
	unmap_dm(to_sdm(ibdm));
}

struct ibv_mr *skerry_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
				uint64_t offset, size_t length,
				unsigned int access)
{
	struct verbs_mr *vmr;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	if (ibv_cmd_reg_dm_mr(pd, &to_sdm(ibdm)->vdm, offset, length, access,
			      vmr, NULL)) {
		free(vmr);
		return NULL;
	}

	return &vmr->ibv_mr;
}
