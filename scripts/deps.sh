#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh PROFILE: install the Debian packages that PROFILE (build, run, test, ci) needs and that
# are not there. Without root or sudo: name them and fail. DEPS=skip trusts the machine as it is.
set -eu

build='gcc binutils libc6-dev meson ninja-build pkg-config liburcu-dev'
run="$build liblua5.4-dev libsqlite3-dev"
test="$run g++ clang libcmocka-dev bats lua5.4 sqlite3 redis-server redis-tools xz-utils python3
	libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 valgrind jq procps"
ci="$test clang-format clang-tidy cppcheck libclang-rt-dev llvm gcovr qemu-user gcc-aarch64-linux-gnu
	libc6-dev-arm64-cross spin"

case ${1-} in
build) packages=$build ;;
run) packages=$run ;;
test) packages=$test ;;
ci) packages=$ci ;;
*)
	echo "usage: deps.sh build|run|test|ci" >&2
	exit 2
	;;
esac
[ "${DEPS-}" != skip ] || exit 0

if ! command -v dpkg-query >/dev/null; then
	echo "This is not Debian. Needed, by Debian's names:" $packages >&2
	echo "With these installed by hand, run make with DEPS=skip." >&2
	exit 1
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null | sed -n 's/^installed //p' || true)
missing=
for package in $packages; do
	echo "$installed" | grep -qxF -- "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
	as_root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
	as_root=sudo
else
	echo "Missing Debian packages:$missing" >&2
	echo "Install them as root: apt-get install$missing" >&2
	exit 1
fi

echo "Installing:$missing"

# redis-server is wanted as a program for the tests, not as a service on this machine.
policy=/usr/sbin/policy-rc.d
made_policy=
cleanup() {
	[ -z "$made_policy" ] || $as_root rm -f "$policy"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
if [ ! -e "$policy" ]; then
	made_policy=yes
	printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
	$as_root chmod 755 "$policy"
fi

install() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
		install -qq -y --no-install-recommends $missing </dev/null
}

# The lists of a fresh machine are empty, those of an old one out of date: only then update.
log=$(mktemp)
if ! install >"$log" 2>&1; then
	$as_root apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq update </dev/null >"$log" 2>&1 || {
		# A foreign source may be broken while Debian's own are fine: the install decides.
		cat "$log" >&2
	}
	if ! install >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		echo "Could not install:$missing" >&2
		exit 1
	fi
fi
rm -f "$log"
