/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_COMPAT_NET_UDP_TUNNEL_H
#define SKR_COMPAT_NET_UDP_TUNNEL_H

#include_next <net/udp_tunnel.h>

/* These took a socket once. */
#ifndef SKR_TUNNEL_TAKES_SOCK
#define setup_udp_tunnel_sock(net, sk, cfg)	setup_udp_tunnel_sock(net, (sk)->sk_socket, cfg)
#define udp_tunnel_sock_release(sk)		udp_tunnel_sock_release((sk)->sk_socket)
#endif

#endif /* SKR_COMPAT_NET_UDP_TUNNEL_H */
