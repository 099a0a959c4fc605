/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * skerry: the binary interface between the kernel module and the provider.
 *
 * Everything that crosses the user/kernel border is defined here, once, and
 * both sides compile this very file.
 *
 * Rings
 * =====
 * A QP has a send ring (SQ) and a receive ring (RQ), which it may share with
 * others (SRQ); a CQ has one ring. Each is one mmap()able area: a struct
 * skerry_ring_hdr at offset 0, then `depth` entries of `entry_bytes` each from
 * offset SKERRY_RING_ENTRIES on. `depth` is a power of two. Indices run freely
 * modulo 2^32; an entry's place is index & (depth - 1). The ring holds
 * prod - cons entries.
 *
 * SQ, RQ: user space produces, the kernel consumes.
 *	user	write the entry
 *		store-release  hdr.user_index = prod + 1
 *		full barrier
 *		if (load hdr.need_kick) enter the kernel (POST_SEND/POST_RECV
 *		command with no work request in it)
 *	kernel	load-acquire hdr.user_index; copy the entry once into kernel
 *		memory; validate and use only that copy
 *		before going idle: hdr.need_kick = 1; full barrier; look at
 *		hdr.user_index again
 *		hdr.kernel_index = cons, once the entry's work is complete and
 *		before its CQE, if it has one, is published: who sees the CQE
 *		may use the place
 *	An SQ's need_kick is 0 while the kernel is going to look at the ring by
 *	itself. An RQ's is 1 only while its QP is in the error state, where
 *	work posted has to be flushed. An SRQ's is 0 while the SRQ is there. All
 *	are 1 once the device has gone: entering the kernel then says so.
 *
 * CQ: the kernel produces, user space consumes.
 *	kernel	write the entry
 *		store-release  hdr.kernel_index = prod + 1
 *		full barrier
 *		armed = load hdr.arm; if it asks for this entry: exchange
 *		hdr.arm with 0 and raise the completion event
 *	user	load-acquire hdr.kernel_index; read the entries
 *		store-release  hdr.user_index = cons
 *		to ask for an event: atomic OR into hdr.arm, then poll again
 *
 * Resizing a CQ: the kernel makes another ring (SKERRY_RESIZE_PREPARE), user
 * space maps it and stops consuming, and the kernel changes over
 * (SKERRY_RESIZE_COMMIT). Indices go on. Entries from the old ring's
 * kernel_index on are in the new one; user space moves those before it there,
 * each to the place of its index. arm and user_index are taken over.
 *
 * The kernel keeps no state of its own in a ring: kernel_index and need_kick
 * are copies for user space to read, and what user space writes there hurts
 * only itself.
 */
#ifndef SKERRY_ABI_H
#define SKERRY_ABI_H

#include <linux/types.h>

/** SKERRY_ABI_VERSION - uverbs_abi_ver; provider and module must agree */
#define SKERRY_ABI_VERSION	1

/**
 * SKERRY_DRIVER_ID - what binds the provider to the device
 *
 * enum rdma_driver_id has no entry for skerry; the kernel only passes the
 * number on. Far from the enum so that it cannot collide with a later entry.
 */
#define SKERRY_DRIVER_ID	0x736b7279	/* "skry" */

/** SKERRY_RING_ENTRIES - offset of entry 0 in a ring's mapping, in bytes */
#define SKERRY_RING_ENTRIES	128

/* Bits of skerry_ring_hdr.arm (CQ only) */
#define SKERRY_ARM_SOLICITED	(1U << 0)
#define SKERRY_ARM_NEXT		(1U << 1)

/**
 * struct skerry_ring_hdr - first bytes of a ring's mapping
 * @user_index: written by user space: producer (SQ, RQ) or consumer (CQ)
 * @arm: CQ: SKERRY_ARM_*, set by user space, exchanged with 0 by the kernel
 *	when it raises the event
 * @rsvd0: keeps the two writers on cache lines of their own
 * @kernel_index: written by the kernel: consumer (SQ, RQ) or producer (CQ)
 * @need_kick: SQ, RQ: written by the kernel: 1 if a post must enter the kernel
 * @rsvd1: fills the second line
 */
struct skerry_ring_hdr {
	__u32	user_index;
	__u32	arm;
	__u32	rsvd0[14];
	__u32	kernel_index;
	__u32	need_kick;
	__u32	rsvd1[14];
};

/**
 * struct skerry_sge - one piece of local memory
 * @addr: address in the region's own numbering (iova)
 * @length: bytes
 * @lkey: the region
 */
struct skerry_sge {
	__aligned_u64	addr;
	__u32		length;
	__u32		lkey;
};

/* skerry_send_wqe.flags; the values of enum ibv_send_flags */
#define SKERRY_SEND_FENCE	(1U << 0)
#define SKERRY_SEND_SIGNALED	(1U << 1)
#define SKERRY_SEND_SOLICITED	(1U << 2)
#define SKERRY_SEND_INLINE	(1U << 3)

/* Of enum ib_uverbs_wr_opcode what older headers do not have */
#define SKERRY_OP_FLUSH		14
#define SKERRY_OP_ATOMIC_WRITE	15

/**
 * struct skerry_send_wqe - an entry of the SQ
 * @wr_id: returned in the CQE
 * @opcode: enum ib_uverbs_wr_opcode
 * @flags: SKERRY_SEND_*
 * @num_sge: entries of sge[] behind this header; 0 with SKERRY_SEND_INLINE
 * @inline_len: bytes of data behind this header, with SKERRY_SEND_INLINE
 * @imm: immediate data as it goes on the wire
 * @inv_rkey: SEND with invalidate, LOCAL_INV: the key (host order)
 * @rdma: READ, WRITE: the peer's memory
 * @atomic: COMPARE_SWAP and FETCH_ADD: the peer's memory and the operands;
 *	FETCH_ADD adds @compare_add. ATOMIC_WRITE: the eight bytes of @swap as they
 *	lie in memory
 * @flush: FLUSH: the peer's memory; type is enum ib_placement_type, level enum
 *	ib_selectivity_level
 * @ud: UD: the address handle's number, the peer's QP number and Q_Key
 * @mem: BIND_MW: the window's key from now on, of which only the low byte may
 *	be new, and the memory that it is bound to: addr and length in the
 *	region lkey; access is enum ib_uverbs_access_flags. Within the kernel
 *	also REG_MR, without lkey
 * @srqn: XRC: number of the peer's SRQ
 * @rsvd: zero; fills the header to 64 bytes
 *
 * sge[] or the inline data follow at once. Entries are entry_bytes apart.
 */
struct skerry_send_wqe {
	__aligned_u64	wr_id;
	__u8		opcode;
	__u8		flags;
	__u16		num_sge;
	__u32		inline_len;
	union {
		__be32	imm;
		__u32	inv_rkey;
	};
	__u32		srqn;
	union {
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u32		rsvd;
		} rdma;
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u32		rsvd;
			__aligned_u64	compare_add;
			__aligned_u64	swap;
		} atomic;
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
			__u8		type;
			__u8		level;
			__u16		rsvd;
			__u32		length;
			__u32		rsvd1;
		} flush;
		struct {
			__u32		ah_num;
			__u32		remote_qpn;
			__u32		remote_qkey;
			__u32		rsvd;
		} ud;
		struct {
			__aligned_u64	addr;
			__aligned_u64	length;
			__u32		key;
			__u32		lkey;
			__u32		access;
			__u32		rsvd;
		} mem;
		__aligned_u64		rsvd[5];
	};
};

/**
 * struct skerry_recv_wqe - an entry of the RQ
 * @wr_id: returned in the CQE
 * @num_sge: entries of sge[] that follow
 * @rsvd: zero
 */
struct skerry_recv_wqe {
	__aligned_u64	wr_id;
	__u32		num_sge;
	__u32		rsvd;
};

/* skerry_cqe.flags */
#define SKERRY_CQE_GRH		(1U << 0)
#define SKERRY_CQE_IMM		(1U << 1)
#define SKERRY_CQE_INV		(1U << 2)
#define SKERRY_CQE_VLAN		(1U << 3)

/**
 * struct skerry_cqe - an entry of the CQ
 * @wr_id: of the work request
 * @status: enum ibv_wc_status
 * @opcode: enum ibv_wc_opcode; undefined unless @status is 0
 * @flags: SKERRY_CQE_*
 * @vendor_err: 0, or what went wrong in detail
 * @byte_len: bytes received, read or, for an atomic, 8
 * @imm: immediate data as it came, with SKERRY_CQE_IMM
 * @inv_rkey: the key that was invalidated, with SKERRY_CQE_INV (host order)
 * @qp_num: local QP
 * @src_qp: UD: the sender's QP
 * @pkey_index: UD on QP 1
 * @sl: UD: service level of the sender
 * @net: UD: 0 RoCEv1, 1 IPv4, 2 IPv6
 * @vlan: UD: identifier of the VLAN that it came in on, with SKERRY_CQE_VLAN
 * @timestamp: nanoseconds of CLOCK_MONOTONIC_RAW when the entry was written
 * @rsvd0: zero
 * @priv: zero in a ring that user space maps
 * @rsvd: zero
 */
struct skerry_cqe {
	__aligned_u64	wr_id;
	__u8		status;
	__u8		opcode;
	__u16		flags;
	__u32		vendor_err;
	__u32		byte_len;
	union {
		__be32	imm;
		__u32	inv_rkey;
	};
	__u32		qp_num;
	__u32		src_qp;
	__u16		pkey_index;
	__u8		sl;
	__u8		net;
	__u16		vlan;
	__u16		rsvd0;
	__aligned_u64	timestamp;
	__aligned_u64	priv;
	__aligned_u64	rsvd;
};

/**
 * struct skerry_ring_info - where a ring is and what it looks like
 * @mmap_offset: offset to give to mmap() on the command descriptor
 * @mmap_bytes: length to give to mmap(); 0: there is no such ring
 * @depth: entries, a power of two
 * @entry_bytes: distance between entries
 * @rsvd: zero
 */
struct skerry_ring_info {
	__aligned_u64	mmap_offset;
	__u32		mmap_bytes;
	__u32		depth;
	__u32		entry_bytes;
	__u32		rsvd;
};

/**
 * struct skerry_alloc_ucontext_resp - answer to opening the device
 * @max_inline: largest max_inline_data a QP can have, in bytes
 * @rsvd: zero
 */
struct skerry_alloc_ucontext_resp {
	__u32	max_inline;
	__u32	rsvd;
};

/**
 * struct skerry_query_device_resp - answer to querying the device
 * @rate_limit_min: least rate limit of a QP, kb/s
 * @rate_limit_max: the port's speed, kb/s: a limit above it is none
 * @rate_limit_qpts: bits 1 << enum ib_qp_type (ibv_qp_type): types of QPs that have one
 * @rsvd: zero
 */
struct skerry_query_device_resp {
	__u32	rate_limit_min;
	__u32	rate_limit_max;
	__u32	rate_limit_qpts;
	__u32	rsvd;
};

/**
 * struct skerry_create_cq_resp - answer to creating a CQ
 * @ring: its ring, entries are struct skerry_cqe
 */
struct skerry_create_cq_resp {
	struct skerry_ring_info ring;
};

/* Steps of resizing a CQ */
#define SKERRY_RESIZE_PREPARE	0
#define SKERRY_RESIZE_COMMIT	1

/**
 * struct skerry_resize_cq_req - request to resize a CQ
 * @step: SKERRY_RESIZE_*; a second PREPARE replaces the first one's ring
 * @rsvd: zero
 */
struct skerry_resize_cq_req {
	__u32	step;
	__u32	rsvd;
};

/**
 * struct skerry_resize_cq_resp - answer to resizing a CQ
 * @ring: PREPARE: the ring to be; COMMIT: zero
 */
struct skerry_resize_cq_resp {
	struct skerry_ring_info ring;
};

/* Congestion control of a QP; without either of them it is the device's affair */
#define SKERRY_CREATE_QP_CC_ON		(1U << 0)
#define SKERRY_CREATE_QP_CC_OFF		(1U << 1)

/**
 * struct skerry_create_qp_req - request to create a QP
 * @flags: SKERRY_CREATE_QP_*; EOPNOTSUPP if there are others, EINVAL if these
 *	contradict each other
 * @rsvd: zero
 *
 * It may be missing: then @flags is 0.
 */
struct skerry_create_qp_req {
	__u32	flags;
	__u32	rsvd;
};

/**
 * struct skerry_create_qp_resp - answer to creating a QP
 * @sq: send ring, entries are struct skerry_send_wqe and their data
 * @rq: receive ring, entries are struct skerry_recv_wqe and their sge[];
 *	mmap_bytes is 0 if the QP uses an SRQ
 */
struct skerry_create_qp_resp {
	struct skerry_ring_info sq;
	struct skerry_ring_info rq;
};

/**
 * struct skerry_create_srq_resp - answer to creating an SRQ
 * @ring: its ring, entries are struct skerry_recv_wqe and their sge[]
 */
struct skerry_create_srq_resp {
	struct skerry_ring_info ring;
};

/**
 * struct skerry_modify_srq_req - what modifying an SRQ needs to change max_wr
 * @ring_info_addr: where to write a struct skerry_ring_info that describes the
 *	new ring. It has the same indices, and the entries that were posted;
 *	nothing may be posted from the call on until the new ring is mapped
 */
struct skerry_modify_srq_req {
	__aligned_u64	ring_info_addr;
};

/**
 * struct skerry_create_ah_resp - answer to creating an address handle
 * @ah_num: what skerry_send_wqe.ud.ah_num names it by
 * @rsvd: zero
 */
struct skerry_create_ah_resp {
	__u32	ah_num;
	__u32	rsvd;
};

/**
 * SKERRY_ATTR_ALLOC_DM_INFO - attribute of UVERBS_METHOD_DM_ALLOC that is ours
 *
 * The first one in the driver's name space (1 << UVERBS_ID_NS_SHIFT). The
 * kernel writes a struct skerry_dm_info there.
 */
#define SKERRY_ATTR_ALLOC_DM_INFO	0x1000

/**
 * enum skerry_dm_query - a method of ours of UVERBS_OBJECT_DM: where is it?
 * @SKERRY_METHOD_DM_QUERY: the method, for a process that imports it
 * @SKERRY_ATTR_QUERY_DM_HANDLE: which one
 * @SKERRY_ATTR_QUERY_DM_INFO: the kernel writes a struct skerry_dm_info there
 */
enum skerry_dm_query {
	SKERRY_METHOD_DM_QUERY = 0x1000,
	SKERRY_ATTR_QUERY_DM_HANDLE = 0x1000,
	SKERRY_ATTR_QUERY_DM_INFO,
};

/**
 * struct skerry_dm_info - where device memory is
 * @mmap_offset: offset to give to mmap() on the command descriptor
 * @mmap_bytes: length to give to mmap()
 * @length: bytes that were asked for
 *
 * The memory begins with the mapping.
 */
struct skerry_dm_info {
	__aligned_u64	mmap_offset;
	__aligned_u64	mmap_bytes;
	__aligned_u64	length;
};

#endif /* SKERRY_ABI_H */
