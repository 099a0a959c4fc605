/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* XRC objects that free themselves. */
#pragma once

#include <cstdint>
#include <string>

#include "verbs.hh"

namespace st
{

class Xrcd
{
public:
	/* one that nobody can share */
	explicit Xrcd(const Device &dev);
	/* that of a file, which is made if need be */
	Xrcd(const Device &dev, const std::string &file);
	Xrcd(const Xrcd &) = delete;
	~Xrcd();

	ibv_xrcd *get() const { return xrcd; }
	/* 0 or an errno */
	int close();

private:
	ibv_xrcd *xrcd = nullptr;
	int fd = -1;
};

class XrcSrq
{
public:
	XrcSrq(const Pd &pd, const Cq &cq, const Xrcd &xrcd, uint32_t max_wr = 64);
	XrcSrq(const XrcSrq &) = delete;
	~XrcSrq();

	ibv_srq *get() const { return srq; }
	uint32_t num() const;
	void post(uint64_t id, ibv_sge sge) const;
	/* 0 or an errno */
	int destroy();

private:
	ibv_srq *srq;
};

/* for Qp's constructor; NULL with errno set */
ibv_qp *make_initiator(const Pd &pd, const Cq &cq, uint32_t inline_bytes = 0);
ibv_qp *make_target(const Device &dev, const Xrcd &xrcd);
ibv_qp *open_target(const Device &dev, const Xrcd &xrcd, uint32_t qpn);

} // namespace st
