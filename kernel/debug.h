/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef SKR_DEBUG_H
#define SKR_DEBUG_H

/**
 * skr_debug_init() - make the switches visible in debugfs
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

#endif /* SKR_DEBUG_H */
