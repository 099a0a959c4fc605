// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connections by rdma_cm, one after the other: connect, one WRITE, disconnect.
 * --listen is the side that is written to; --connect ADDRESS makes --cycles
 * connections, each with a value of its own, which the listener reports back
 * by ending with an error if it did not come. With --for-ever it listens until
 * it is killed, and takes it that clients die: of those nothing may have come,
 * but no other value either.
 */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "lib/fail.hh"
#include "lib/options.hh"
#include "lib/verbs.hh"

using namespace st;

namespace
{

constexpr uint64_t MAGIC = 0x5ce9e5c0ffee0000;

/* where to write to: private data of the acceptance */
struct Target {
	uint64_t addr;
	uint32_t rkey;
};

struct Unlink {
	void operator()(rdma_cm_id *id) const { rdma_destroy_ep(id); }
	void operator()(rdma_addrinfo *info) const { rdma_freeaddrinfo(info); }
	void operator()(ibv_mr *mr) const { rdma_dereg_mr(mr); }
};
template <typename T> using Owned = std::unique_ptr<T, Unlink>;

struct Place {
	std::string address, port;
};

Owned<rdma_cm_id> endpoint(const Place &place, bool passive)
{
	rdma_addrinfo hints = {}, *info;
	ibv_qp_init_attr init = {};
	rdma_cm_id *id;

	hints.ai_port_space = RDMA_PS_TCP;
	hints.ai_flags = passive ? RAI_PASSIVE : 0;
	if (rdma_getaddrinfo(place.address.c_str(), place.port.c_str(), &hints, &info))
		fail_errno("rdma_getaddrinfo");
	Owned<rdma_addrinfo> owner(info);
	init.cap = { 4, 4, 1, 1, 16 };
	init.sq_sig_all = 1;
	if (rdma_create_ep(&id, info, nullptr, &init))
		fail_errno("rdma_create_ep");
	return Owned<rdma_cm_id>(id);
}

/* the next event of a connection */
void expect_event(rdma_cm_id *id, rdma_cm_event_type type)
{
	rdma_cm_event *event;

	if (rdma_get_cm_event(id->channel, &event))
		fail_errno("rdma_get_cm_event");
	auto got = event->event;
	rdma_ack_cm_event(event);
	if (got != type)
		fail("%s instead of %s", rdma_event_str(got), rdma_event_str(type));
}

/* one connection, from the request to its end; what was written */
uint64_t serve(rdma_cm_id *listener)
{
	volatile uint64_t word = 0;
	rdma_conn_param param = {};
	Target target;
	rdma_cm_id *id;

	if (rdma_get_request(listener, &id))
		fail_errno("rdma_get_request");
	Owned<rdma_cm_id> owner(id);
	Owned<ibv_mr> mr(rdma_reg_write(id, const_cast<uint64_t *>(&word), sizeof(word)));
	if (!mr)
		fail_errno("rdma_reg_write");
	target = { reinterpret_cast<uint64_t>(&word), mr->rkey };
	param.private_data = &target;
	param.private_data_len = sizeof(target);
	param.responder_resources = param.initiator_depth = 1;
	if (rdma_accept(id, &param))
		fail_errno("rdma_accept");
	/* the end may overtake the confirmation that rdma_accept() waits for;
	 * letting the end point go answers: to disconnect it, too, would wait
	 * for the end of its time-wait state */
	if (id->event->event != RDMA_CM_EVENT_DISCONNECTED)
		expect_event(id, RDMA_CM_EVENT_DISCONNECTED);
	return word;
}

void serve_exactly(rdma_cm_id *listener, uint64_t cycles)
{
	for (uint64_t n = 0; n < cycles; n++)
		if (uint64_t word = serve(listener); word != MAGIC + n)
			fail("cycle %llu: %#llx was written", static_cast<unsigned long long>(n),
			     static_cast<unsigned long long>(word));
}

void serve_for_ever(rdma_cm_id *listener, uint64_t cycles)
{
	for (;;) {
		uint64_t word = 0;

		try {
			word = serve(listener);
		} catch (const std::exception &e) {
			/* a client that was killed before it was connected */
			std::printf("gave up: %s\n", e.what());
		}
		if (word && word - MAGIC >= cycles)
			fail("%#llx was written", static_cast<unsigned long long>(word));
	}
}

void write_once(const Place &place, uint64_t n)
{
	auto id = endpoint(place, false);
	rdma_conn_param param = {};
	uint64_t word = MAGIC + n;
	Target target;
	ibv_wc wc;

	param.responder_resources = param.initiator_depth = 1;
	param.retry_count = param.rnr_retry_count = 7;
	if (rdma_connect(id.get(), &param))
		fail_errno(format("cycle %llu: rdma_connect, status %d",
				  static_cast<unsigned long long>(n),
				  id->event ? id->event->status : 0));
	if (id->event->param.conn.private_data_len < sizeof(target))
		fail("no private data");
	std::memcpy(&target, id->event->param.conn.private_data, sizeof(target));
	if (rdma_post_write(id.get(), nullptr, &word, sizeof(word), nullptr, IBV_SEND_INLINE,
			    target.addr, target.rkey))
		fail_errno("rdma_post_write");
	if (rdma_get_send_comp(id.get(), &wc) != 1 || wc.status)
		fail("WRITE: %s", ibv_wc_status_str(wc.status));
	if (rdma_disconnect(id.get()))
		fail_errno("rdma_disconnect");
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Options opt(argc, argv);
		uint64_t cycles = opt.number("cycles", 200);
		Place to{ opt.text("connect", ""), opt.text("port", "7476") };
		Place own{ opt.text("listen", ""), to.port };
		bool for_ever = opt.flag("for-ever");

		opt.done();
		if (!own.address.empty()) {
			auto listener = endpoint(own, true);
			if (rdma_listen(listener.get(), 16))
				fail_errno("rdma_listen");
			std::printf("listening\n");
			std::fflush(stdout);
			if (for_ever)
				serve_for_ever(listener.get(), cycles);
			else
				serve_exactly(listener.get(), cycles);
		} else {
			for (uint64_t n = 0; n < cycles; n++)
				write_once(to, n);
		}
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
