/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Verbs objects that free themselves. All of them throw Failure; where a test
 * wants the errno, it calls libibverbs with get().
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

namespace st
{

constexpr int ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

class Device
{
public:
	explicit Device(const std::string &name);
	Device(const Device &) = delete;
	~Device();

	ibv_context *get() const { return ctx; }
	const ibv_device_attr &attr() const { return caps; }
	ibv_port_attr port() const;
	/* index of a GID: "v4", "v6", "ll" for RoCEv2, with "v1-" in front for RoCEv1; or a
	 * number */
	int gid_index(const std::string &kind) const;
	ibv_gid gid(int index) const;
	/* next asynchronous event within ms, acknowledged; nothing if none came */
	std::optional<ibv_async_event> event(int ms) const;
	/* the event of this type within ms; others are passed over */
	bool wait_event(ibv_event_type type, int ms) const;

private:
	ibv_context *ctx = nullptr;
	ibv_device_attr caps = {};
};

class Pd
{
public:
	explicit Pd(const Device &dev);
	Pd(const Pd &) = delete;
	~Pd();

	ibv_pd *get() const { return pd; }

private:
	ibv_pd *pd;
};

/* memory of its own and the region over it */
class Mr
{
public:
	Mr(const Pd &pd, size_t length, int access = ALL_ACCESS);
	/* registered under numbers that start at iova */
	Mr(const Pd &pd, size_t length, int access, uint64_t iova);
	Mr(const Mr &) = delete;
	~Mr();

	ibv_mr *get() const { return mr; }
	uint8_t *data() const { return base; }
	size_t size() const { return length; }
	uint32_t lkey() const { return mr->lkey; }
	uint32_t rkey() const { return mr->rkey; }
	/* address of byte offset as seen by verbs */
	uint64_t addr(size_t offset = 0) const { return iova + offset; }
	ibv_sge sge(size_t offset, uint32_t bytes) const
	{
		return { addr(offset), bytes, mr->lkey };
	}
	/* deregister now, keep the memory; 0 or an errno */
	int deregister();

private:
	void allocate();

	uint8_t *base = nullptr;
	size_t length;
	uint64_t iova = 0;
	ibv_mr *mr = nullptr;
};

class Cq
{
public:
	Cq(const Device &dev, int depth, bool with_channel = false);
	/* one that was made otherwise; NULL is the failure of errno */
	explicit Cq(ibv_cq *made);
	Cq(const Cq &) = delete;
	~Cq();

	ibv_cq *get() const { return cq; }
	/* what is there, at most n; throws if polling fails */
	int poll(ibv_wc *wc, int n) const;
	/* the next completion within ms */
	std::optional<ibv_wc> next(int ms = 10000) const;
	/* the next completion; it is a failure if there is none or it is bad */
	ibv_wc good(int ms = 10000) const;
	/* the next completion, which must have this id and status */
	ibv_wc expect(uint64_t wr_id, ibv_wc_status status, int ms = 10000) const;
	/* ask for an event */
	void arm(bool solicited = false) const;
	/* wait for an event and acknowledge it; false after ms without one */
	bool wait(int ms) const;

private:
	ibv_comp_channel *channel = nullptr;
	ibv_cq *cq = nullptr;
};

struct QpDepth {
	uint32_t send = 64, recv = 64, send_sge = 4, recv_sge = 4, inline_bytes = 0;
	bool signal_all = false;
	ibv_srq *srq = nullptr;
	ibv_qp_type type = IBV_QPT_RC;
	uint32_t create_flags = 0;
};

/* what the peer has to know of a QP */
struct QpAddress {
	uint32_t qpn;
	uint32_t psn;
	ibv_gid gid;
};

/* how a QP is connected */
struct QpLink {
	int gid_index = 0;
	ibv_mtu mtu = IBV_MTU_1024;
	uint8_t timeout = 14; /* 67 ms */
	uint8_t retry = 7;
	uint8_t rnr_retry = 7;
	uint8_t min_rnr = 12; /* 0.64 ms */
	uint8_t rd_atomic = 8;
	uint8_t sl = 0;
	uint8_t tclass = 0;
	uint8_t static_rate = 0; /* ibv_rate; 0: the port's */
	uint32_t psn = 0;
	int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
};

class Qp
{
public:
	Qp(const Device &dev, const Pd &pd, const Cq &send_cq, const Cq &recv_cq,
	   const QpDepth &depth = {});
	/* one that was made otherwise; NULL is the failure of errno */
	Qp(const Device &dev, ibv_qp *made);
	Qp(const Qp &) = delete;
	~Qp();

	ibv_qp *get() const { return qp; }
	uint32_t num() const { return qp->qp_num; }
	const ibv_qp_cap &cap() const { return caps; }
	QpAddress address(const QpLink &link) const;
	/* RESET to INIT, to RTR, to RTS */
	void to_init(const QpLink &link) const;
	void to_rtr(const QpLink &link, const QpAddress &peer) const;
	void to_rts(const QpLink &link) const;
	void connect(const QpLink &link, const QpAddress &peer) const;
	/* UD: RESET to RTS */
	void to_datagram(uint32_t qkey, uint32_t psn) const;
	/* modify to a state that needs no attributes; 0 or an errno */
	int try_state(ibv_qp_state state) const;
	ibv_qp_state state() const;
	ibv_qp_attr query(int mask) const;
	/* destroy now; 0 or an errno */
	int destroy();

	void post(ibv_send_wr &wr) const;
	void recv(uint64_t id, std::vector<ibv_sge> sges) const;

private:
	const Device &dev;
	ibv_qp *qp = nullptr;
	ibv_qp_cap caps = {};
};

/* a work request that owns its sge list */
class Work
{
public:
	Work(uint64_t id, ibv_wr_opcode opcode, std::vector<ibv_sge> list,
	     unsigned int flags = IBV_SEND_SIGNALED);

	Work &remote(uint64_t addr, uint32_t rkey);
	Work &atomic(uint64_t addr, uint32_t rkey, uint64_t compare_add, uint64_t swap = 0);
	Work &imm(uint32_t value);
	Work &datagram(ibv_ah *ah, uint32_t qpn, uint32_t qkey);
	/* which SRQ of the peer it is for */
	Work &xrc(uint32_t srqn);
	/* 0 or an errno */
	int try_post(const Qp &qp);
	void post(const Qp &qp);
	ibv_send_wr &get();

private:
	std::vector<ibv_sge> sges;
	ibv_send_wr wr = {};
};

ibv_mtu mtu_enum(unsigned int bytes);
/* device and memory operations on a moving target: nanoseconds, monotonic */
uint64_t now_ns();
void sleep_us(unsigned int us);

} // namespace st
