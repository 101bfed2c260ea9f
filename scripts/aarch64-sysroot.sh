#!/bin/sh
# SPDX-License-Identifier: MIT
# aarch64-sysroot.sh DIR: put arm64 liburcu, cmocka and Lua into DIR/sysroot and write DIR/cross.ini.
# apt works in a directory of its own, so that the machine gets no foreign architecture; no root needed.
set -eu

mkdir -p "$1"
dir=$(cd "$1" && pwd)
sysroot=$dir/sysroot
lib=$sysroot/usr/lib/aarch64-linux-gnu

if [ ! -e "$sysroot/complete" ]; then
	apt=$dir/apt
	rm -rf "$apt" "$sysroot"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$sysroot"
	: >"$apt/status"
	apt_arm64() {
		apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" \
			-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root \
			-o Acquire::Languages=none -o Acquire::Retries=3 "$@" </dev/null
	}
	# A source that is not Debian's may have no arm64: the download decides.
	apt_arm64 update || true
	(cd "$apt/debs" && apt_arm64 download liburcu8 liburcu-dev libcmocka0 libcmocka-dev liblua5.4-0 liblua5.4-dev)
	for deb in "$apt"/debs/*.deb; do
		dpkg -x "$deb" "$sysroot"
	done
	rm -rf "$apt"
	: >"$sysroot/complete"
fi

cat >"$dir/cross.ini" <<END
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', '-E', 'LD_LIBRARY_PATH=$lib']

[built-in options]
c_args = ['-isystem', '$sysroot/usr/include', '-isystem', '$sysroot/usr/include/aarch64-linux-gnu']
c_link_args = ['-L$lib', '-Wl,-rpath-link,$lib']

[properties]
pkg_config_libdir = ['$lib/pkgconfig', '$sysroot/usr/share/pkgconfig']
sys_root = '$sysroot'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
