/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * AETH syndromes, RNR timer codes and the local ACK timeout
 * (IBTA tables 45 to 47, 9.7.5.2.8, 9.9.2.1.1).
 */
#ifndef SKR_WIRE_AETH_H
#define SKR_WIRE_AETH_H

#include <linux/types.h>

/* Syndrome: bit 7 is 0, bits 6:5 the class, bits 4:0 its value */
#define SKR_AETH_CLASS_MASK	0x60
#define SKR_AETH_VALUE_MASK	0x1f
#define SKR_AETH_ACK		0x00
#define SKR_AETH_RNR		0x20
#define SKR_AETH_NAK		0x60

/* An ACK that says nothing about credits: the requester is not limited */
#define SKR_AETH_ACK_UNLIMITED	0x1f

#define SKR_NAK_PSN_SEQ		0x60
#define SKR_NAK_INV_REQ		0x61
#define SKR_NAK_REM_ACCESS	0x62
#define SKR_NAK_REM_OP		0x63
#define SKR_NAK_INV_RD_REQ	0x64

/**
 * skr_rnr_ns() - how long an RNR NAK asks the requester to wait
 * @code: timer code of the syndrome, only the low five bits count
 *
 * Return: nanoseconds, 10 us to 655.36 ms.
 */
__u64 skr_rnr_ns(__u8 code);

/**
 * skr_ack_timeout_ns() - local ACK timeout
 * @code: as in ibv_qp_attr.timeout, only the low five bits count
 *
 * Return: nanoseconds, 4.096 us * 2^@code, or 0 for @code 0: no timeout.
 */
__u64 skr_ack_timeout_ns(__u8 code);

#endif /* SKR_WIRE_AETH_H */
