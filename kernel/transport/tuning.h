/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How much at once, and how long: windows, budgets, backlogs and pauses of the
 * transport.
 */
#ifndef SKR_TRANSPORT_TUNING_H
#define SKR_TRANSPORT_TUNING_H

#include <linux/time64.h>

/*
 * Unacknowledged packets a requester may have: begins with SKR_WINDOW_START,
 * grows with what is acknowledged, is halved by a NAK and falls to the minimum
 * on a time-out. A go-back-N sender wastes a window for each loss, and a window
 * that the receiver cannot work off within the ACK timeout feeds on itself.
 */
#define SKR_WINDOW_MIN		8
#define SKR_WINDOW_START	64
#define SKR_WINDOW_MAX		512
/* Packets that one READ request asks for at most */
#define SKR_READ_CHUNK		64U
/* An AckReq at least every so many packets; a power of two */
#define SKR_ACKREQ_EVERY	32
/* ... and for each packet of a flow of fewer bytes a second */
#define SKR_ACKREQ_SLOW		12500000
/* Bytes of payload that are lent rather than copied */
#define SKR_LEND_MIN		2048
/* Each time-out in a row doubles the next, so often: IBTA 9.9.2.1.1 allows 4 T */
#define SKR_TIMEOUT_BACKOFF	2
/* Another path is taken: so often what is under way is repeated early, first after that */
#define SKR_HURRIES		5
#define SKR_HURRY_NS		(50 * NSEC_PER_MSEC)
/* Packets that may wait for a QP's lock, per direction */
#define SKR_RX_BACKLOG		2048
/* ... of super-packets so many times less */
#define SKR_RX_SUPER		16
/* ... and in all no more than so much memory */
#define SKR_RX_BACKLOG_BYTES	SZ_8M
/* Units of work in one step under the lock: packets in, packets out, flushes */
#define SKR_STEP_BUDGET		64
/* Steps in one run before a worker goes on ... */
#define SKR_RUN_STEPS		8
/* ... or, in softirq, this goes on after others */
#define SKR_RUN_STEPS_SOFTIRQ	4
/* A packet of so many bytes, or a super-packet, is worked off while it is in the cache */
#define SKR_RX_AT_ONCE		1024
/* ... and one of so many by another CPU, while the softirq goes on */
#define SKR_RX_ASIDE		16384
/* The ICRCs of these as well, if fewer than so many super-packets wait there */
#define SKR_RX_LATE		4
/* What is sent in one step, in units of SKR_TX_UNIT, by a QP that sends bulk */
#define SKR_TX_BULK		8
/* While it has so much under way, who posts to it need not enter the kernel */
#define SKR_QUIET_BYTES		SZ_128K
/* Work that came alone so often in a row is no longer made to wait for more ... */
#define SKR_SOON_LONE		4
/* ... but for one time in so many */
#define SKR_SOON_PROBE		32
/* Pause after the local stack refused a packet */
#define SKR_CONGESTED_NS	(100 * NSEC_PER_USEC)

#endif /* SKR_TRANSPORT_TUNING_H */
