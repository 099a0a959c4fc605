/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Whole frames onto a cable, many with one call. */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rawlink.hh"

namespace st
{

class Gun
{
public:
	/* an interface of a namespace, whose other end the frames come out of */
	explicit Gun(const std::string &interface, const std::string &netns = "skM");

	void load(Bytes frame) { frames.push_back(std::move(frame)); }
	size_t loaded() const { return frames.size(); }
	/* send what is loaded */
	void fire();

private:
	std::unique_ptr<RawLink> link;
	std::vector<Bytes> frames;
};

} // namespace st
