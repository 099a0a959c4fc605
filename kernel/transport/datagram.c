// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Datagrams: UD QPs and QP 1 (IBTA 9.8.3, 10.2.5, A17.4.5.2). Each message is
 * one packet, and nothing is ever answered.
 */
#include "engine.h"
#include "send.h"
#include "unreliable.h"

#include <net/inet_ecn.h>
#include <rdma/ib_addr.h>

#include "../net/dest.h"
#include "../net/rocev2.h"

static u32 skr_datagram_mtu(const struct skr_qp *qp)
{
	return ib_mtu_enum_to_int(iboe_get_mtu(READ_ONCE(qp->dev->ndev->mtu)));
}

static int skr_datagram_send_to(struct skr_qp *qp, const struct skr_swqe *wqe, struct skr_av *av)
{
	u32 qkey = wqe->req.ud.remote_qkey;
	struct skr_pkt pkt = {
		.opcode = SKR_TRANS_UD |
			  (wqe->op->flags & SKR_SOP_IMM ? SKR_SEND_ONLY_IMM : SKR_SEND_ONLY),
		.qpn = wqe->req.ud.remote_qpn & SKR_MASK24,
		.psn = qp->req.psn,
		.payload_bytes = wqe->length,
		.imm = wqe->req.imm,
		.qkey = qkey & SKR_QKEY_CONTROLLED ? qp->attr.qkey : qkey,
		.src_qpn = qp->qpn,
	};
	struct skr_batch out;
	void *payload;

	if (wqe->req.flags & SKERRY_SEND_SOLICITED)
		pkt.bth_flags = SKR_BTH_SE;
	/* a source port for each flow: the address handle knows no QP numbers */
	av->ecn = skr_flow_algorithm(qp)->marks ? INET_ECN_ECT_0 : 0;
	av->sport = rdma_get_udp_sport(av->flow_label, qp->qpn, pkt.qpn);
	av->ip_id = pkt.psn;
	skr_batch_init(&out, qp->dev, qp->stats, av);
	payload = skr_send_begin(qp, &out, &pkt);
	if (IS_ERR(payload))
		return PTR_ERR(payload);
	if (!skr_req_payload(qp, wqe, 0, payload, wqe->length)) {
		skr_batch_cancel(&out);
		return skr_qp_missed(qp) ? -EINPROGRESS : -EFAULT;
	}
	skr_send_end(&out, &pkt);
	return skr_send_flush(qp, &out);
}

int skr_datagram_send(struct skr_qp *qp, const struct skr_swqe *wqe)
{
	struct skr_av av;
	int err = 0;

	lockdep_assert_held(&qp->lock);
	if (!skr_dest_find(qp->dev, qp->ibqp->pd, wqe->req.ud.ah_num, &av))
		return -ENXIO;
	if (wqe->length <= skr_datagram_mtu(qp))
		err = skr_datagram_send_to(qp, wqe, &av);
	skr_av_release(&av);
	return err;
}

enum skr_drop skr_datagram_admit(const struct skr_qp *qp, const struct sk_buff *skb,
				 const struct skr_pkt *pkt)
{
	lockdep_assert_held(&qp->lock);
	if (pkt->qkey != qp->attr.qkey)
		return SKR_DROP_QKEY;
	/* its own multicast, come back through the local stack */
	if (qp->no_loopback && pkt->src_qpn == qp->qpn && skb->pkt_type == PACKET_LOOPBACK)
		return SKR_DROP_ADDR;
	return SKR_DROP_NONE;
}

/* Layer 3 in front, then the payload. False: the memory is not there. */
static bool skr_datagram_scatter(struct skr_qp *qp, struct sk_buff *skb,
				 const struct skr_pkt *pkt)
{
	struct skr_rwqe *wqe = qp->recv.wqe;
	struct skr_sges sges = skr_qp_sges(qp, wqe->sge, wqe->num_sge);
	struct skr_source from = skr_rx_payload(skb, pkt);
	u8 grh[SKR_GRH_BYTES];

	skr_rx_grh(skb, grh);
	return skr_sges_write(&sges, 0, grh, sizeof(grh)) &&
	       skr_sges_write_skb(&sges, sizeof(grh), &from, pkt->payload_bytes);
}

void skr_datagram_receive(struct skr_qp *qp, struct sk_buff *skb, const struct skr_pkt *pkt)
{
	const struct skr_rx_cb *cb = skr_rx_cb(skb);
	u32 bytes = SKR_GRH_BYTES + pkt->payload_bytes;
	struct skerry_cqe cqe = {
		.opcode = IB_WC_RECV,
		.flags = SKERRY_CQE_GRH,
		.byte_len = bytes,
		.src_qp = pkt->src_qpn,
		.net = cb->net,
	};
	int ready;

	lockdep_assert_held(&qp->lock);
	ready = skr_take_recv(qp);
	if (!ready) {
		skr_qp_count(qp, SKR_CNT_OUT_OF_BUFFER);
		return;
	}
	if (ready < 0) {
		skr_qp_recv_failed(qp);
		return;
	}
	/* too long: nobody is told, and the receive request waits on (9.8.3.1) */
	if (pkt->payload_bytes > skr_datagram_mtu(qp) || bytes > qp->recv.wqe->length) {
		skr_qp_count(qp, SKR_CNT_RESP_LOCAL_LENGTH_ERROR);
		return;
	}
	if (!skr_datagram_scatter(qp, skb, pkt)) {
		if (!skr_qp_missed(qp))
			skr_qp_recv_failed(qp);
		return;
	}
	if (pkt->flags & SKR_HAS_IMM) {
		cqe.flags |= SKERRY_CQE_IMM;
		cqe.imm = pkt->imm;
	}
	if (cb->vlan < VLAN_N_VID) {
		cqe.flags |= SKERRY_CQE_VLAN;
		cqe.vlan = cb->vlan;
	}
	skr_complete_recv(qp, &cqe, pkt->bth_flags & SKR_BTH_SE);
}
