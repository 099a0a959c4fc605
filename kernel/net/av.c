// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "av.h"

#include <linux/etherdevice.h>
#include <linux/random.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "netns.h"
#include "vlan.h"

/* The type of the source GID decides; IPv4 and IPv6 do not mix, GRHs do not care. */
static int skr_av_net(struct skr_av *av, enum ib_gid_type type)
{
	bool ipv4 = ipv6_addr_v4mapped(&av->saddr);

	switch (type) {
	case IB_GID_TYPE_ROCE:
		av->net = SKR_L3_GRH;
		return 0;
	case IB_GID_TYPE_ROCE_UDP_ENCAP:
		av->net = ipv4 ? SKR_L3_IPV4 : SKR_L3_IPV6;
		return ipv6_addr_v4mapped(&av->daddr) == ipv4 ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static int skr_av_rate(struct skr_av *av, u8 rate)
{
	int mbps = ib_rate_to_mbps(rate);

	if (rate != IB_RATE_PORT_CURRENT && mbps < 0)
		return -EINVAL;
	av->mbps = rate != IB_RATE_PORT_CURRENT ? mbps : 0;
	return 0;
}

int skr_av_init(struct skr_av *av, const struct rdma_ah_attr *attr, u32 lqpn, u32 rqpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *gid = grh->sgid_attr;
	struct net_device *ndev;
	int err;

	/* RoCE knows eight service levels: a VLAN priority (A17.5.3) */
	if (!gid || rdma_ah_get_sl(attr) > 7)
		return -EINVAL;

	memset(av, 0, sizeof(*av));
	memcpy(&av->saddr, &gid->gid, sizeof(av->saddr));
	memcpy(&av->daddr, &grh->dgid, sizeof(av->daddr));
	err = skr_av_net(av, gid->gid_type);
	if (err)
		return err;
	err = skr_av_rate(av, rdma_ah_get_static_rate(attr));
	if (err)
		return err;
	if (av->net == SKR_L3_GRH)
		ether_addr_copy(av->dmac, attr->roce.dmac);

	av->hop_limit = grh->hop_limit ?: IPV6_DEFAULT_HOPLIMIT;
	av->tclass = grh->traffic_class & ~INET_ECN_MASK;
	av->sl = rdma_ah_get_sl(attr);
	av->flow_label = grh->flow_label & 0xfffff;
	av->ip_id = get_random_u16();
	av->sport = rdma_get_udp_sport(av->flow_label, lqpn, rqpn);

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(gid);
	if (!IS_ERR(ndev) && skr_vlan_ours(skr_dev(gid->device), ndev))
		av->oif = ndev->ifindex;
	rcu_read_unlock();
	return av->oif ? 0 : -EINVAL;
}

void skr_av_release(struct skr_av *av)
{
	dst_release(av->dst);
	av->dst = NULL;
}

static struct dst_entry *skr_route4(struct skr_dev *dev, struct skr_av *av)
{
	struct flowi4 fl = {
		.flowi4_oif = av->oif,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = av->saddr.s6_addr32[3],
		.daddr = av->daddr.s6_addr32[3],
		.fl4_sport = htons(av->sport),
		.fl4_dport = htons(ROCE_V2_UDP_DPORT),
	};
	struct rtable *rt = ip_route_output_key(dev->net, &fl);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *skr_route6(struct skr_dev *dev, struct skr_av *av)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct sock *sk = skr_netns_sk6(dev->net);
	struct flowi6 fl = {
		.flowi6_oif = av->oif,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = av->saddr,
		.daddr = av->daddr,
		.flowlabel = htonl(av->flow_label),
		.fl6_sport = htons(av->sport),
		.fl6_dport = htons(ROCE_V2_UDP_DPORT),
	};
	struct dst_entry *dst;

	if (!sk)
		return NULL;
	dst = ip6_dst_lookup_flow(dev->net, sk, &fl, NULL);
	if (IS_ERR(dst))
		return NULL;
	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	av->cookie = rt6_get_cookie(dst_rt6_info(dst));
	return dst;
#else
	return NULL;
#endif
}

struct dst_entry *skr_av_route(struct skr_dev *dev, struct skr_av *av)
{
	if (av->net == SKR_L3_GRH)
		return NULL;
	if (av->dst && dst_check(av->dst, av->cookie))
		return av->dst;

	skr_av_release(av);
	av->dst = av->net == SKR_L3_IPV4 ? skr_route4(dev, av) : skr_route6(dev, av);
	return av->dst;
}
