/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Who works for a QP, when, and on which CPU.
 */
#ifndef SKR_TRANSPORT_SCHED_H
#define SKR_TRANSPORT_SCHED_H

#include <linux/compiler.h>
#include <linux/types.h>

struct skr_qp;
struct work_struct;

/**
 * skr_sched_init() - make the workqueue
 *
 * Context: module init.
 * Return: 0 or a negative errno.
 */
int skr_sched_init(void);

/**
 * skr_sched_exit() - undo skr_sched_init()
 *
 * Context: module exit.
 */
void skr_sched_exit(void);

/**
 * skr_qp_run() - there is work for a QP: do it, or leave it to who is at it
 * @qp: QP
 *
 * Context: process or BH, with no lock of ours held; the caller keeps the QP.
 */
void skr_qp_run(struct skr_qp *qp);

/**
 * skr_qp_unlock() - release the lock after a look at the QP or a change that is no
 *	work
 * @qp: QP, locked with spin_lock_bh()
 *
 * Who brought work meanwhile failed to get the lock and relies on its holder: the
 * work is done here.
 *
 * Context: process, with no lock of ours held but @qp->lock; the caller keeps the QP.
 */
void skr_qp_unlock(struct skr_qp *qp) __releases(&qp->lock);

/**
 * skr_qp_run_later() - there is work for a QP: let a worker do it
 * @qp: QP
 *
 * Context: any, also with interrupts off or locks held.
 */
void skr_qp_run_later(struct skr_qp *qp);

/**
 * skr_other_cpu() - who can work for a QP besides this CPU
 * @qp: QP
 *
 * Context: BH.
 * Return: another CPU of this node that others may use, the same for a QP as long as it
 *	can be; this one if there is none.
 */
int skr_other_cpu(const struct skr_qp *qp);

/**
 * skr_qp_run_aside() - bulk has come for a QP: let another CPU's softirq take it
 * @qp: QP
 *
 * Until that is there, more that comes may be left to it (SKR_QP_ASIDE). A worker would
 * not do: it would have to wait for whoever polls on that CPU.
 *
 * Context: BH.
 * Return: false if there is no other one: nothing was done.
 */
bool skr_qp_run_aside(struct skr_qp *qp);

/**
 * skr_qp_run_on() - there is work for a QP: let a CPU's softirq do it, after the rest
 * @qp: QP
 * @cpu: which; if that is not online, this one
 *
 * Context: any, also with interrupts off or locks held.
 */
void skr_qp_run_on(struct skr_qp *qp, int cpu);

/**
 * skr_qp_run_soon() - there is work for a QP, and more may be about to come
 * @qp: QP
 * @lone: how often work of this kind came alone: qp->lone_rx or qp->lone_post
 *
 * In softirq, the work is done when this softirq has done what it has in hand: what
 * comes with it is one batch. Elsewhere, and where work comes one by one, it is
 * done at once.
 *
 * Context: as skr_qp_run().
 */
void skr_qp_run_soon(struct skr_qp *qp, u8 *lone);

/**
 * skr_qp_bh_work() - body of qp->bh_work
 * @work: qp->bh_work
 *
 * Context: softirq.
 */
void skr_qp_bh_work(struct work_struct *work);

/**
 * skr_qp_work() - body of qp->work
 * @work: qp->work
 *
 * Context: process.
 */
void skr_qp_work(struct work_struct *work);

#endif /* SKR_TRANSPORT_SCHED_H */
