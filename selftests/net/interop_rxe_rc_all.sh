#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# interop_rxe_rc.sh with READs and atomics among what meets loss, which rxe itself does
# not always survive.
# only: on demand
# timeout: 600

LOSSY=send,send_imm,write,write_imm,read,cas,fadd,inline
# shellcheck source-path=SCRIPTDIR source=interop_rxe_rc.sh
. "$(dirname "$0")/interop_rxe_rc.sh"
