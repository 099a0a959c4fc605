/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Links: `rdma link add NAME type skerry netdev IF`, and what happens to the
 * netdev afterwards.
 */
#ifndef SKR_LINK_H
#define SKR_LINK_H

/**
 * skr_link_init() - offer the link type and watch netdevs
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_link_init(void);

/**
 * skr_link_exit() - take the link type back and remove all links
 *
 * Context: module exit.
 */
void skr_link_exit(void);

#endif /* SKR_LINK_H */
