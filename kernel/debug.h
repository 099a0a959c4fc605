/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_DEBUG_H
#define SKR_DEBUG_H

#include "device.h"

/**
 * skr_debug_init() - make skerry/ in debugfs
 *
 * Context: module init.
 */
void skr_debug_init(void);

/**
 * skr_debug_exit() - undo skr_debug_init()
 *
 * Context: module exit.
 */
void skr_debug_exit(void);

/**
 * skr_debug_add() - make a device's congestion control visible, under its name
 * @dev: device
 *
 * Context: process.
 */
void skr_debug_add(struct skr_dev *dev);

/**
 * skr_debug_remove() - undo skr_debug_add()
 * @dev: device
 *
 * Context: process. Waits for readers and writers.
 */
void skr_debug_remove(struct skr_dev *dev);

#endif /* SKR_DEBUG_H */
