/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* min() and max() that evaluate their arguments once, for C */
#ifndef SKR_UNIT_LINUX_MINMAX_H
#define SKR_UNIT_LINUX_MINMAX_H

#define min(a, b) __extension__ ({ \
	__auto_type _min_a = (a); \
	__auto_type _min_b = (b); \
	_min_a < _min_b ? _min_a : _min_b; \
})

#define max(a, b) __extension__ ({ \
	__auto_type _max_a = (a); \
	__auto_type _max_b = (b); \
	_max_a > _max_b ? _max_a : _max_b; \
})

#endif /* SKR_UNIT_LINUX_MINMAX_H */
