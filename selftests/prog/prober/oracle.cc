// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "oracle.hh"

#include "../lib/fail.hh"
#include "../lib/wire.hh"

namespace st
{

constexpr uint8_t SERVICE = 0xe0, OPERATION = 0x1f, UC = 0x20, UD = 0x60;

Oracle::Oracle(const std::string &file) : pcap(file + ".pcap"), beliefs(file + ".txt")
{
	if (!beliefs)
		fail_errno("write " + file + ".txt");
}

static std::string believe(const char *field, uint64_t value)
{
	return format(" infiniband.%s=%llu", field, static_cast<unsigned long long>(value));
}

/* a READ response or acknowledgment */
static std::string believe_aeth(uint8_t operation, const Bytes &body)
{
	std::string text;

	switch (operation) {
	case RC_READ_FIRST:
	case RC_READ_LAST:
	case RC_READ_ONLY:
	case RC_ACK:
	case RC_ATOMIC_ACK:
		text = believe("aeth.syndrome", body[0]) + believe("aeth.msn", get24(&body[1]));
	}
	if (operation == RC_ATOMIC_ACK)
		text += believe("atomicacketh.origremdt", get64(&body[4]));
	return text;
}

static std::string believe_request(uint8_t operation, const Bytes &body)
{
	switch (operation) {
	case RC_WRITE_FIRST:
	case RC_WRITE_ONLY:
	case RC_WRITE_ONLY_IMM:
	case RC_READ_REQUEST:
		return believe("reth.va", get64(&body[0])) +
		       believe("reth.r_key", get32(&body[8])) +
		       believe("reth.dmalen", get32(&body[12])) +
		       (operation == RC_WRITE_ONLY_IMM ? believe("immdt", get32(&body[16])) : "");
	case RC_CMP_SWAP:
	case RC_FETCH_ADD:
		return believe("atomiceth.swapdt", get64(&body[12])) +
		       believe("atomiceth.cmpdt", get64(&body[20]));
	case RC_SEND_LAST_IMM:
	case RC_SEND_ONLY_IMM:
	case RC_WRITE_LAST_IMM:
		return believe("immdt", get32(&body[0]));
	case RC_SEND_LAST_INV:
	case RC_SEND_ONLY_INV:
		return believe("ieth", get32(&body[0]));
	}
	return "";
}

void Oracle::add(const Bytes &frame, const Bth &bth, const Bytes &body)
{
	uint8_t service = bth.opcode & SERVICE, operation = bth.opcode & OPERATION;

	pcap.add(frame, real_ns());
	beliefs << believe("bth.opcode", bth.opcode) << believe("bth.se", bth.solicited)
		<< believe("bth.m", bth.migrated) << believe("bth.padcnt", bth.pad)
		<< believe("bth.tver", bth.version) << believe("bth.p_key", bth.pkey)
		<< believe("bth.destqp", bth.qpn) << believe("bth.a", bth.ack_request)
		<< believe("bth.psn", bth.psn);
	if (service == 0 || (service == UC && operation <= RC_WRITE_ONLY_IMM))
		beliefs << believe_request(operation, body) << believe_aeth(operation, body);
	if (service == UD)
		beliefs << believe("deth.q_key", get32(&body[0]))
			<< believe("deth.srcqp", get24(&body[5]));
	beliefs << std::endl;
}

} // namespace st
