// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#include "xrc.hh"

#include <fcntl.h>
#include <unistd.h>

#include "fail.hh"

namespace st
{

static ibv_xrcd *open_domain(const Device &dev, int fd, int oflags)
{
	ibv_xrcd_init_attr init = {};

	init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	init.fd = fd;
	init.oflags = oflags;
	ibv_xrcd *xrcd = ibv_open_xrcd(dev.get(), &init);
	if (!xrcd)
		fail_errno("ibv_open_xrcd");
	return xrcd;
}

Xrcd::Xrcd(const Device &dev) : xrcd(open_domain(dev, -1, O_CREAT)) {}

Xrcd::Xrcd(const Device &dev, const std::string &file)
	: fd(open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600))
{
	if (fd < 0)
		fail_errno(file);
	xrcd = open_domain(dev, fd, O_CREAT);
}

Xrcd::~Xrcd()
{
	close();
	if (fd >= 0)
		::close(fd);
}

int Xrcd::close()
{
	const int err = xrcd ? ibv_close_xrcd(xrcd) : 0;

	if (!err)
		xrcd = nullptr;
	return err;
}

XrcSrq::XrcSrq(const Pd &pd, const Cq &cq, const Xrcd &xrcd, uint32_t max_wr)
{
	ibv_srq_init_attr_ex init = {};

	init.attr = { max_wr, 1, 0 };
	init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			 IBV_SRQ_INIT_ATTR_CQ;
	init.srq_type = IBV_SRQT_XRC;
	init.pd = pd.get();
	init.xrcd = xrcd.get();
	init.cq = cq.get();
	srq = ibv_create_srq_ex(pd.get()->context, &init);
	if (!srq)
		fail_errno("ibv_create_srq_ex");
}

XrcSrq::~XrcSrq()
{
	destroy();
}

uint32_t XrcSrq::num() const
{
	uint32_t number = 0;

	if (int err = ibv_get_srq_num(srq, &number))
		fail_errno("ibv_get_srq_num", err);
	return number;
}

void XrcSrq::post(uint64_t id, ibv_sge sge) const
{
	ibv_recv_wr wr = {}, *bad = nullptr;

	wr.wr_id = id;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	if (int err = ibv_post_srq_recv(srq, &wr, &bad))
		fail_errno("ibv_post_srq_recv", err);
}

int XrcSrq::destroy()
{
	const int err = srq ? ibv_destroy_srq(srq) : 0;

	if (!err)
		srq = nullptr;
	return err;
}

ibv_qp *make_initiator(const Pd &pd, const Cq &cq, uint32_t inline_bytes)
{
	ibv_qp_init_attr_ex init = {};

	init.send_cq = cq.get();
	init.cap = { 64, 0, 4, 0, inline_bytes };
	init.qp_type = IBV_QPT_XRC_SEND;
	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = pd.get();
	return ibv_create_qp_ex(pd.get()->context, &init);
}

ibv_qp *make_target(const Device &dev, const Xrcd &xrcd)
{
	ibv_qp_init_attr_ex init = {};

	init.qp_type = IBV_QPT_XRC_RECV;
	init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	init.xrcd = xrcd.get();
	return ibv_create_qp_ex(dev.get(), &init);
}

ibv_qp *open_target(const Device &dev, const Xrcd &xrcd, uint32_t qpn)
{
	ibv_qp_open_attr attr = {};

	attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	attr.qp_num = qpn;
	attr.xrcd = xrcd.get();
	attr.qp_type = IBV_QPT_XRC_RECV;
	return ibv_open_qp(dev.get(), &attr);
}

} // namespace st
