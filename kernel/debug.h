/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_DEBUG_H
#define SKR_DEBUG_H

#include "device.h"

/**
 * skr_debug_init() - make skerry/ in debugfs and the switches in it; each device that
 *	comes gets a directory of its name there
 *
 * Context: module init, before there can be devices.
 * Return: 0 or a negative errno.
 */
int skr_debug_init(void);

/**
 * skr_debug_exit() - undo skr_debug_init()
 *
 * Context: module exit, when no device is left. Waits for readers and writers.
 */
void skr_debug_exit(void);

#endif /* SKR_DEBUG_H */
