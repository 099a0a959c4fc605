#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
#
# Boot a guest once and wait for its end.
# Usage: boot.sh KERNEL PAYLOAD DIR [--shell | --peer PAYLOAD]
#	KERNEL	6.12 or 7.3, as in build/boot/, or a lane, as in build/lane/
#	PAYLOAD	tar archive to unpack over the root (see scripts/payload)
#	DIR	gets console.log and verdict
#	--peer	boot a second guest with this payload beside it, whose end comes with
#		the first one's: three cables join them, eth0 for commands, then a
#		virtio-net and an e1000e. Its console is in DIR/peer/
# ICOUNT=1: one CPU, emulated, whose clock counts its instructions
# Exit status: 0 if the guest came to its orderly end.

. "$(dirname "$0")/../../scripts/common.sh"
. "$TOP/scripts/watch.sh"
need_root

k=$1 payload=$2 dir=$3 shell=${4:-} peer=${5:-}

# for KCSAN each report is a warning, and most are not ours
panic_on_warn=1
[ "$k" != kcsan ] || panic_on_warn=0

command_line="root=/dev/vda panic=-1 oops=panic panic_on_warn=$panic_on_warn kfence.sample_interval=100"
command_line+=" loglevel=5 console=ttyS0 net.ifnames=0 rcupdate.rcu_cpu_stall_timeout=60"
# a guest whose CPU waits for the host's takes its timer for broken, and panics
command_line+=" no_timer_check"

if is_lane "$k"; then
	kernel=$BUILD/lane/$k/boot/kernel
	initrd=$BUILD/boot/initrd-lane
	# on the default machine, without drivers for it, ACPI and then the disk fail
	machine=(-machine q35)
else
	kernel=$BUILD/boot/vmlinuz-$k
	initrd=$BUILD/boot/initrd-$k
	machine=()
fi

# limited SECONDS CMD... - timeout(1) for a function
limited()
{
	local seconds=$1 pid rc=0
	shift

	"$@" &
	pid=$!
	(sleep "$seconds" && kill -9 $pid) 2> /dev/null 9>&- &
	wait $pid || rc=$?
	kill $! 2> /dev/null || true
	return $rc
}

# accelerator - KVM where it truly boots this kernel, else emulation. An open
# of /dev/kvm proves nothing, so try it, once a boot of the host.
accelerator()
{
	local verdict=$BUILD/kvm key

	key="$(cat /proc/sys/kernel/random/boot_id) $(exec_qemu --version | head -n 1)"
	if [ ! -f "$verdict" ] || [ "$(head -n 1 "$verdict")" != "$key" ]; then
		if [ -w /dev/kvm ] && limited 20 exec_qemu -accel kvm -cpu host \
			-smp 2 -m 1024 -nodefaults -display none -no-reboot -nic none \
			-kernel "$kernel" -initrd "$initrd" \
			-serial "file:$LOG/kvm-probe.log" < /dev/null > /dev/null 2>&1 \
			-append "console=ttyS0 panic=-1 quiet skerry.probe" &&
			grep -q 'skerry: this kernel boots' "$LOG/kvm-probe.log"; then
			printf '%s\nkvm\n' "$key" > "$verdict"
		else
			printf '%s\ntcg\n' "$key" > "$verdict"
		fi
	fi
	sed -n 2p "$verdict"
}

mkdir -p "$dir"
: > "$dir/verdict"
: > "$dir/console.log"

# become_guest PAYLOAD DIR ARGUMENT... - a QEMU with all that a guest has
become_guest()
{
	exec_qemu "${machine[@]}" -drive "file=$1,if=virtio,format=raw,readonly=on" \
		-device virtio-serial-pci -chardev "file,id=verdict,path=$2/verdict" \
		-device "virtserialport,chardev=verdict,name=skerry.verdict" "${@:3}"
}

# cables 1|2 - set nics to this guest's ends of the cables
cables()
{
	local guest=$1 side name n=0 device

	nics=()
	case $guest in
	1) side=server=off,reconnect-ms=200 ;;
	2) side=server=on ;;
	esac
	for device in virtio-net-pci virtio-net-pci e1000e; do
		name=cable$n
		nics+=(-netdev "stream,id=$name,$side,addr.type=unix,addr.path=$dir/$name"
			-device "$device,netdev=$name,romfile=,mac=52:54:00:77:0$n:0$guest")
		n=$((n + 1))
	done
}

cpus=2
[ -z "${ICOUNT:-}" ] || cpus=1
machine+=(-name "skerry-$k" -smp "$cpus" -nodefaults -display none -no-reboot)
if [ -n "${ICOUNT:-}" ]; then
	machine+=(-accel "tcg,thread=single" -icount shift=0 -cpu max)
elif [ "$(accelerator)" = kvm ]; then
	machine+=(-accel kvm -cpu host)
else
	machine+=(-accel "tcg,thread=multi" -cpu max)
fi
machine+=(-kernel "$kernel" -initrd "$initrd"
	# where the host's disk is full the guest is to see errors, not to stand still
	-drive "file=$BUILD/image.ext4,if=virtio,format=raw,snapshot=on,werror=report")
[ "$shell" != --peer ] || command_line+=" guests=2"
machine+=(-append "$command_line")

nics=(-nic none)
guest='' second=''
trap 'kill -9 $guest $second 2> /dev/null || true' EXIT
trap 'exit 130' INT TERM HUP

start_guest()
{
	become_guest "$payload" "$dir" -m 4096 "${nics[@]}" -serial "file:$dir/console.log" \
		< /dev/null > "$dir/qemu.log" 2>&1 9>&- &
	guest=$!
}

# start_pair - the second guest, and the first one with the other ends of its cables
start_pair()
{
	mkdir -p "$dir/peer"
	: > "$dir/peer/console.log"
	cables 2
	become_guest "$peer" "$dir/peer" -m 2048 "${nics[@]}" \
		-serial "file:$dir/peer/console.log" < /dev/null > "$dir/peer/qemu.log" 2>&1 9>&- &
	second=$!
	cables 1
	start_guest
}

# pair_began - the first guest says so once the second one answers it; 1 if the second
# guest's QEMU has ended by itself before. What else may happen is watch_guest's.
pair_began()
{
	local tries

	for ((tries = 0; tries < BOOT_LIMIT; tries++)); do
		! grep -q '^@begin' "$dir/verdict" || return 0
		kill -0 "$guest" 2> /dev/null || return 0
		kill -0 "$second" 2> /dev/null || return 1
		sleep 1
	done
}

case $shell in
--shell)
	become_guest "$payload" "$dir" -m 4096 "${nics[@]}" -serial mon:stdio
	;;
--peer)
	# Emulated, a QEMU has been seen to abort while the second guest started. As the
	# first process of its PID namespace it then dies of a segmentation fault.
	start_pair
	if ! pair_began; then
		echo "the second guest's QEMU has died: $(tail -n 1 "$dir/peer/qemu.log"): once more" >&2
		kill -9 "$guest"
		wait "$guest" "$second" || true
		start_pair
	fi
	;;
*)
	start_guest
	;;
esac

watch_guest "$guest" $second
cat "$dir/qemu.log" >&2
[ -z "$second" ] || cat "$dir/peer/qemu.log" >&2
grep -q '^@done' "$dir/verdict"
