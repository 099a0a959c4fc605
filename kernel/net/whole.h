/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Receiving super-packets as they come, from a peer on this machine or in another
 * virtual machine, or put together by GRO. UDP would cut them up for the socket
 * that owns port 4791, as for any socket that takes the packets of a tunnel.
 */
#ifndef SKR_NET_WHOLE_H
#define SKR_NET_WHOLE_H

#include <net/net_namespace.h>
#include <net/sock.h>

/**
 * skr_whole_open() - let super-packets reach a namespace's sockets
 * @net: namespace
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int skr_whole_open(struct net *net);

/**
 * skr_whole_close() - undo skr_whole_open()
 * @net: namespace
 *
 * Context: process.
 */
void skr_whole_close(struct net *net);

/**
 * skr_whole_sock() - let a socket take them
 * @sk: socket that owns port 4791
 *
 * Context: process.
 */
void skr_whole_sock(struct sock *sk);

#endif /* SKR_NET_WHOLE_H */
