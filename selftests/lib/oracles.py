#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Ask others about the prober's packets: tshark takes them apart, field for field,
# and has nothing to complain of; scapy computes the ICRCs of RoCEv2.
# Usage: oracles.py tshark|scapy FILE   (FILE.pcap, FILE.txt: prober --oracle)

import subprocess
import sys

# differences to show: nobody reads pages of them
MOST = 20


def guessers():
    """Dissectors that take a guess at what the data of a packet might be."""
    run = subprocess.run(["tshark", "-G", "heuristic-decodes"], capture_output=True, text=True,
                         check=True)
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return [row[4] for row in rows if row[0] == "infiniband.payload"]


def beliefs(file):
    """What the prober believes: a dict of fields for each packet."""
    with open(file + ".txt", encoding="ascii") as lines:
        for line in lines:
            yield dict(word.split("=") for word in line.split())


def tshark(file, *args):
    """Lines of tshark's output."""
    # RoCE's UDP checksum is zero over IPv6, too
    command = ["tshark", "-n", "-r", file + ".pcap",
               "-o", "udp.ignore_ipv6_zero_checksum:TRUE"]
    for name in guessers():
        command += ["--disable-heuristic", name]
    run = subprocess.run(command + list(args), capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"tshark: {run.stderr}")
    return run.stdout.splitlines()


def number(field, text):
    """A field's value; tshark shows some as words, some as bytes."""
    if text in ("True", "False"):
        return text == "True"
    return int(text, 16 if field in ("infiniband.immdt", "infiniband.ieth") else 0)


def ask_tshark(file):
    """Each field, then each complaint."""
    wanted = list(beliefs(file))
    fields = sorted({field for packet in wanted for field in packet})
    args = [arg for field in fields for arg in ("-e", field)]
    got = tshark(file, "-T", "fields", "-E", "separator=|", "-E", "occurrence=f", *args)
    bad = []
    if len(got) != len(wanted):
        bad.append(f"{len(got)} packets instead of {len(wanted)}")
    for i, (line, packet) in enumerate(zip(got, wanted), 1):
        values = dict(zip(fields, line.split("|")))
        for field, value in packet.items():
            if not values[field] or number(field, values[field]) != int(value):
                bad.append(f"packet {i}: {field} is {values[field] or 'not there'}, not {value}")
    bad += tshark(file, "-Y", "_ws.malformed or _ws.expert.severity >= 0x600000")
    print(f"{len(wanted)} packets, {len(fields)} fields")
    return bad


def ask_scapy(file):
    """The ICRC of each RoCEv2 packet, as scapy computes it."""
    # pylint: disable=import-outside-toplevel
    from scapy.contrib.roce import BTH, GRH
    from scapy.layers.l2 import Ether
    from scapy.utils import RawPcapReader

    bad = []
    count = 0
    for i, (data, _) in enumerate(RawPcapReader(file + ".pcap"), 1):
        packet = Ether(data)
        if GRH in packet:
            continue
        if BTH not in packet:
            bad.append(f"packet {i} is no RoCE")
            continue
        bth = packet[BTH]
        on_wire = data[-4:]
        bth.icrc = None
        computed = bytes(Ether(bytes(packet)))[-4:]
        if computed != on_wire:
            bad.append(f"packet {i}: ICRC {on_wire.hex()}, scapy computes {computed.hex()}")
        count += 1
    print(f"{count} ICRCs")
    if not count:
        bad.append("no packets")
    return bad


def main():
    """Print what is wrong; exit status 1 if anything is."""
    what, file = sys.argv[1:]
    bad = {"tshark": ask_tshark, "scapy": ask_scapy}[what](file)
    for line in bad[:MOST]:
        print(line)
    if bad:
        print(f"{len(bad)} in all")
    sys.exit(bool(bad))


main()
