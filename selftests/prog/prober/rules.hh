/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The tables of rules; each file adds the exchanges of its own subject. */
#pragma once

#include "peer.hh"

namespace st
{

/* RC, the device answers */
void add_sequences(Trials &trials);
void add_numbers(Trials &trials);
void add_refusals(Trials &trials);
void add_replays(Trials &trials);
void add_answers(Trials &trials);
/* RC, the device asks */
void add_requests(Trials &trials, const Bench &bench);
void add_verdicts(Trials &trials);
/* what is around the transport headers */
void add_headers(Trials &trials, const Bench &bench);
void add_damage(Trials &trials, const Bench &bench);
void add_layers(Trials &trials, const Bench &bench);
/* UC and UD */
void add_unreliable(Trials &trials);
void add_datagrams(Trials &trials, const Bench &bench);

/* suites of their own: congestion, I7, I9 */
void add_notifications(Trials &trials, const Bench &bench);
void add_marks(Trials &trials, const Bench &bench);
void add_marked_reads(Trials &trials, const Bench &bench);
void add_ports(Trials &trials);

} // namespace st
